import { ERRORS, GatewayError } from '../contract/errors.ts';
import { parseArguments, USAGE } from '../lib/arguments.ts';
import { exitOnBrokenPipe } from '../lib/process/broken-pipe.ts';
import { forceExit } from '../lib/process/exit.ts';
import { SetupError } from '../lib/setup-error.ts';
import { VERSION } from '../lib/version.ts';
import { banner } from './banner.ts';
import { serviceManager } from './service-manager.ts';
import { runSubcommand } from './subcommands.ts';

type Environment = Record<string, string | undefined>;

/** Runs the gateway until a signal. A setup problem is reported as one line with its advice and exit code 1. */
export async function run(argv: readonly string[], env: Environment): Promise<void> {
  try {
    const options = parseArguments(argv);
    const isServing = !options.help && !options.version && options.subcommand === null;
    if (!isServing) exitOnBrokenPipe('svc-gateway');
    if (options.help) return void process.stdout.write(USAGE);
    if (options.version) return void process.stdout.write(`${VERSION}\n`);
    if (options.subcommand) {
      const out = (text: string) => void process.stdout.write(text);
      process.exitCode = await runSubcommand(options.subcommand, { env, args: options, out });
      return;
    }
    await serve(env, options.model);
  } catch (error) {
    const text = startErrorText(error, argv.includes('--json'));
    if (text === null) throw error;
    process.stderr.write(text);
    process.exitCode = 1;
    setTimeout(() => process.exit(1), 500).unref();
  }
}

/** Returns the message for a refused start, as text or JSON. Returns null for an unexpected error. */
function startErrorText(error: unknown, json: boolean): string | null {
  const known = error instanceof GatewayError || error instanceof SetupError ? error : null;
  if (known === null) return null;
  const [code, advice] =
    known instanceof GatewayError ? [known.code, ERRORS[known.code].advice] : ['setup', known.advice];
  if (json) return `${JSON.stringify({ error: { code, message: known.message, advice } })}\n`;
  return `svc-gateway: ${known.message}\n  ${advice}\n`;
}

/**
 * Returns whether the error is about a file handle that the garbage collector closed. It is logged and does
 * not stop the gateway.
 */
const isLostHandle = (error: unknown): boolean =>
  error instanceof Error && /^A FileHandle object was closed during garbage collection/.test(error.message);

/** The gateway is imported only here, because help, version, sub-commands and refusals need little of it. */
async function serve(env: Environment, model: string | null): Promise<void> {
  const { startServices } = await import('./services.ts');
  const services = await startServices(env, model);
  const { log, check, status } = services;
  const manager = serviceManager({ env, log, check, status });
  process.stdout.write(banner(services.bannerInfo()));
  manager.ready();
  services.onStatus(() => manager.changed());
  let stopping = false;
  const stop = (signal: string) => {
    if (stopping) return;
    stopping = true;
    services.log.info({ event: 'stopping', signal }, 'stopping');
    const limitMs = services.stopLimitMs();
    manager.stopping(limitMs);
    const limit = setTimeout(() => void forceExit(1), limitMs);
    limit.unref();
    services.stop().then(
      () => {
        services.log.info({ event: 'stopped' }, 'stopped');
        return forceExit(Number(process.exitCode ?? 0));
      },
      (error: unknown) => {
        services.log.error({ err: error }, 'the shutdown was not clean');
        return forceExit(1);
      },
    );
  };
  process.on('SIGTERM', () => stop('SIGTERM'));
  process.on('SIGINT', () => stop('SIGINT'));
  process.on('SIGHUP', () => void manager.reload(() => services.reload()));
  process.stderr.on('error', () => {});
  process.on('SIGPIPE', () => {});
  process.on('SIGUSR1', () => {});
  process.on('SIGUSR2', () => {});
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, (error: unknown) => {
      if (isLostHandle(error)) return services.log.error({ err: error }, 'a file could not be closed');
      if (!stopping) services.log.fatal({ event, err: error }, 'unexpected error; stopping the gateway');
      process.exitCode = 1;
      stop(event);
    });
  }
}
