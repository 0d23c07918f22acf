# docker build -t fovea . ; docker run -p 5000:5000 -v $PWD/build/demo/model:/model fovea
FROM debian:12-slim AS build
COPY . /fovea
RUN rm -rf /fovea/build && /fovea/script/package

FROM debian:12-slim
COPY --from=build /fovea/build/package/fovea_*.deb /tmp/
RUN apt-get update -qq && apt-get install -y -qq --no-install-recommends /tmp/fovea_*.deb && \
    rm -rf /tmp/fovea_*.deb /var/lib/apt/lists/*
USER nobody
EXPOSE 5000
ENTRYPOINT ["fovea"]
CMD ["serve", "--model", "/model", "--host", "0.0.0.0", "--port", "5000"]
