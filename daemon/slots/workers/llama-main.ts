import { readCommand } from './config.ts';
import { type LoadService, runWorker } from './lifecycle.ts';
import { skipCpuBinaryTrial } from './llama/binary-probe.ts';
import type { WorkerConfig, WorkerKind } from './protocol.ts';

/** The loader of each worker kind. */
const SERVICES: Readonly<Record<WorkerKind, LoadService<WorkerConfig>>> = {
  chat: async (config, watch) => {
    const { ChatEngine } = await import('./llama/engine.ts');
    const { chatRoutes } = await import('./llama/routes.ts');
    const engine = await ChatEngine.load(config, watch);
    return {
      ...service(engine, chatRoutes(engine, config)),
      save: (isOrphaned) => engine.save(isOrphaned),
    };
  },
  embedding: async (config, watch) => {
    const { EmbeddingEngine } = await import('./llama/embedding-engine.ts');
    const { embeddingRoutes } = await import('./llama/embedding-routes.ts');
    const engine = await EmbeddingEngine.load(config, watch);
    return service(engine, embeddingRoutes(engine, config));
  },
  rerank: async (config, watch) => {
    const { RerankEngine } = await import('./llama/rerank-engine.ts');
    const { rerankRoutes } = await import('./llama/rerank-routes.ts');
    const engine = await RerankEngine.load(config, watch);
    return service(engine, rerankRoutes(engine, config));
  },
};

type Loaded = Awaited<ReturnType<LoadService<WorkerConfig>>>;

const service = (engine: Omit<Loaded, 'routes'>, routes: Loaded['routes']): Loaded => ({
  info: engine.info,
  routes,
  stats: () => engine.stats(),
  dispose: () => engine.dispose(),
});

skipCpuBinaryTrial();
/**
 * Entry point of the engine worker over node-llama-cpp. The library is imported only after the port is open.
 */
runWorker({ read: readCommand, load: (config, watch) => SERVICES[config.kind](config, watch) });
