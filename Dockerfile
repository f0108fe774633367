# One image for every process; docker-compose.yml says which one a container runs.
FROM python:3.11-slim-bookworm

RUN apt-get update && apt-get install --yes --no-install-recommends libgomp1 && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home --uid 10001 poco
WORKDIR /app
COPY requirements.lock ./
RUN pip install --no-cache-dir --require-hashes --requirement requirements.lock
COPY . .
RUN pip install --no-cache-dir --no-deps --no-build-isolation . && install -d -o poco -m 0700 /var/lib/poco
USER poco
ENV POCO_HOME=/var/lib/poco PYTHONUNBUFFERED=1 OMP_NUM_THREADS=1
ENTRYPOINT ["poco-memory"]
CMD ["--help"]
