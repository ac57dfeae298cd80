import { runWorker } from './lifecycle.ts';

/** The engine worker over node-llama-cpp. The library is loaded after the port is open, and nowhere else. */
runWorker(async (config, watch) => {
  const { ChatEngine } = await import('./llama/engine.ts');
  const { chatRoutes } = await import('./llama/routes.ts');
  const engine = await ChatEngine.load(config, watch);
  return {
    facts: engine.facts,
    routes: chatRoutes(engine, config),
    stats: () => engine.stats(),
    dispose: () => engine.dispose(),
  };
});
