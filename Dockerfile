# The dashboard and the interface for programs. Commands, too: docker compose run --rm tracker …
FROM python:3.12-slim

RUN useradd --create-home --uid 1000 tracker && install -d -o tracker /data
COPY pyproject.toml README.md LICENSE alembic.ini /src/
COPY tracker /src/tracker
COPY migrations /src/migrations
RUN pip install --no-cache-dir /src && rm -r /src

USER tracker
WORKDIR /data
VOLUME /data
ENV TRACKER_DATABASE_URL=sqlite:////data/tracker.db
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s CMD \
    ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8000/healthz')"]
ENTRYPOINT ["tracker"]
CMD ["serve", "--host", "0.0.0.0"]
