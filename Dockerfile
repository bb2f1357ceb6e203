# docker build --target lexical -t nlgauge .              lexical metrics
# docker build --target embedded -t nlgauge:embedded .    embedding metrics with a model, no download
# docker run --rm -v "$PWD:/data" nlgauge score -c out.txt -r ref.txt -m bleu chrf
ARG PYTHON=3.13

FROM python:${PYTHON}-slim AS build
RUN apt-get update \
    && apt-get install --yes --no-install-recommends gcc libc6-dev \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY . .
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:${PYTHON}-slim AS lexical
COPY --from=build /wheels /wheels
COPY constraints.txt /wheels/
RUN pip install --no-cache-dir -c /wheels/constraints.txt /wheels/*.whl
RUN useradd --create-home user
USER user
WORKDIR /data
ENTRYPOINT ["nlgauge"]
CMD ["--help"]

FROM lexical AS embedded
USER root
RUN pip install --no-cache-dir torch==2.13.0 --index-url https://download.pytorch.org/whl/cpu \
    && pip install --no-cache-dir -c /wheels/constraints.txt "$(echo /wheels/*.whl)[embedded,plots,stats]"
USER user
ENV HF_HUB_OFFLINE=1
