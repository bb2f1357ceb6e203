// Copying to the clipboard, which browsers allow on this machine or over HTTPS.

/** Copy a text; resolves to whether it was copied. */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
