import { parseArguments, USAGE } from './arguments.ts';
import { banner } from './banner.ts';
import { SetupError } from './kit/setup-error.ts';
import { serviceManager } from './service-manager.ts';
import { runSubcommand } from './subcommands.ts';
import { VERSION } from './version.ts';

type Environment = Record<string, string | undefined>;

/** Longest wait for a clean stop before the process leaves anyway, beyond the drain limit (ms). */
const STOP_MARGIN_MS = 10_000;

/** Boots the gateway and keeps it until a signal; a setup problem is one clear line, its advice, and exit code 1. */
export async function run(argv: readonly string[], env: Environment): Promise<void> {
  try {
    const options = parseArguments(argv);
    if (options.help) return void process.stdout.write(USAGE);
    if (options.version) return void process.stdout.write(`${VERSION}\n`);
    if (options.subcommand) {
      const { json } = options;
      return await runSubcommand(options.subcommand, {
        env,
        json,
        out: (text) => process.stdout.write(text),
      });
    }
    await serve(env, options.model);
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    process.stderr.write(`svc-gateway: ${error.message}\n  ${error.advice}\n`);
    process.exitCode = 1;
    setTimeout(() => process.exit(1), 500).unref();
  }
}

/** The gateway itself is read in only here: help, version, sub-commands and refusals need little of it. */
async function serve(env: Environment, model: string | null): Promise<void> {
  const { startServices } = await import('./services.ts');
  const services = await startServices(env, model);
  const { log, check, status } = services;
  const manager = serviceManager({ env, log, check, status });
  process.stdout.write(banner(services.facts()));
  manager.ready();
  services.onStatus(() => manager.changed());
  let stopping = false;
  const stop = (signal: string) => {
    if (stopping) return;
    stopping = true;
    services.log.info({ event: 'stopping', signal }, 'stopping');
    const limitMs = services.drainMs() + STOP_MARGIN_MS;
    manager.stopping(limitMs);
    const limit = setTimeout(() => process.exit(1), limitMs);
    limit.unref();
    services.stop().then(
      () => process.exit(),
      (error: unknown) => {
        services.log.error({ err: error }, 'the stop was not clean');
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', () => stop('SIGTERM'));
  process.on('SIGINT', () => stop('SIGINT'));
  process.on('SIGHUP', () => void manager.reload(() => services.reload()));
  process.stderr.on('error', () => {});
  process.on('SIGPIPE', () => {});
  process.on('SIGUSR1', () => {});
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, (error: unknown) => {
      if (!stopping) services.log.fatal({ event, err: error }, 'unexpected failure; the gateway stops');
      process.exitCode = 1;
      stop(event);
    });
  }
}
