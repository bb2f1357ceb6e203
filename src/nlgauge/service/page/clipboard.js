// Copying, where the browser allows it: on this machine, or over HTTPS.

/** Whether the text is in the clipboard now. */
export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
