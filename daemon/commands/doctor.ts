import { join } from 'node:path';
import { reachableUrl } from '../app/banner.ts';
import { assertExposureAllowed } from '../app/exposure-guard.ts';
import { incompleteRestore } from '../backup/incomplete-restore.ts';
import { readCompanionPlan } from '../companion/companion-env.ts';
import type { DoctorInput } from '../doctor/doctor-input.ts';
import { examine } from '../doctor/examine.ts';
import { counted } from '../doctor/finding.ts';
import { currentUser, ownHardware, readFiles } from '../doctor/gather.ts';
import { checkPort } from '../doctor/port-check.ts';
import { queryGateway } from '../doctor/query-gateway.ts';
import { reportJson, reportText } from '../doctor/report.ts';
import { containerSockets } from '../hardware/container-sockets.ts';
import { ContainerEngine } from '../lib/container-engine/container-engine.ts';
import { becomeOwnerOf, runAsOwnerOf } from '../lib/fs/as-owner.ts';
import { mounts } from '../lib/fs/mounts.ts';
import { silentLog } from '../lib/log.ts';
import { Outbound } from '../lib/net/outbound.ts';
import { remoteHostOf } from '../lib/net/remote-host.ts';
import { trustedUsers, untrustedListener } from '../lib/net/untrusted-listener.ts';
import { SetupError } from '../lib/setup-error.ts';
import { ENV_FILE } from '../settings/env-layer.ts';
import { folderPaths } from '../settings/folders.ts';
import { loadSettingsReadOnly, type ReadOnlySettings } from '../settings/read-only-settings.ts';
import { type ListenAddress, runningAddress } from '../settings/running-address.ts';
import { stateFolderHolder } from '../store/state-lock.ts';
import { selfTest } from './self-test.ts';
import type { SubcommandOptions } from './subcommand-options.ts';

const CONNECT_MS = 1_500;
const MAX_COLUMNS = 100;
const DEFAULT_COLUMNS = 80;

async function exposureOf(settings: ReadOnlySettings): Promise<DoctorInput['exposureProblem']> {
  try {
    await assertExposureAllowed(settings, silentLog());
    return null;
  } catch (error) {
    if (!(error instanceof SetupError)) throw error;
    return { message: error.message, fix: error.advice };
  }
}

/**
 * Returns the address of the gateway and the key with the most rights. The keys in the settings belong to the
 * gateway of this machine only; `isUntrusted` returns whether another program would respond there. `running` is
 * the address that a running gateway wrote to its state folder.
 */
export function gatewayAccess(
  settings: Pick<ReadOnlySettings, 'value'>,
  { env, args }: Pick<SubcommandOptions, 'env' | 'args'>,
  isUntrusted: (url: string) => boolean,
  running: ListenAddress | null = null,
): { url: string; key: string | null } {
  const named = args.url ?? (env.SVC_URL || undefined);
  const at = running ?? { host: settings.value('bindHost'), port: settings.value('port') };
  const url = named ?? reachableUrl(at.host, at.port);
  const foreign = (named !== undefined && remoteHostOf(named) !== null) || isUntrusted(url);
  const own = foreign ? [] : [settings.value('adminKey'), settings.value('clientKey')];
  const keys = [env.SVC_ADMIN_KEY, env.SVC_CLIENT_KEY, ...own];
  return { url: url.replace(/\/+$/, ''), key: keys.find((key) => key?.trim())?.trim() ?? null };
}

/**
 * Only root may see who uses a port, so the port is checked first. Everything else is checked as the user of
 * the service.
 */
async function gather(options: SubcommandOptions, outbound: Outbound): Promise<DoctorInput> {
  const { state, config } = folderPaths(options.env);
  const settings = await runAsOwnerOf(state, () => loadSettingsReadOnly(options.env));
  const port = await checkPort(settings.value('bindHost'), settings.value('port'));
  becomeOwnerOf(state);
  const trusted = trustedUsers([join(config, ENV_FILE), state]);
  const { url, key } = gatewayAccess(
    settings,
    options,
    (at) => untrustedListener(at, trusted) !== null,
    runningAddress(state),
  );
  const sources = {
    sockets: () => containerSockets(settings),
    query: async (socket: string, signal: AbortSignal) =>
      (await ContainerEngine.connect(outbound, socket, signal, CONNECT_MS)).info,
  };
  const files = readFiles(config);
  const [gateway, own, exposureProblem, companion] = await Promise.all([
    queryGateway(outbound, url, key),
    ownHardware(sources),
    exposureOf(settings),
    readCompanionPlan(config, settings),
  ]);
  return {
    settings,
    port,
    gateway,
    exposureProblem,
    hardware: gateway.hardware ?? own,
    holder: stateFolderHolder(state),
    isRestoreIncomplete: incompleteRestore(state) !== null,
    user: currentUser(),
    now: Date.now(),
    slots: files.slots,
    mountPoints: mounts(),
    fileProblems: [...files.fileProblems, ...(companion?.problems ?? [])],
  };
}

const checkedUrl = (url: string | null): void => {
  if (url === null || (URL.canParse(url) && /^https?:\/\//.test(url))) return;
  throw new SetupError(`--url ${url} is not a URL.`, 'Write it like http://127.0.0.1:8080.');
};

/**
 * `svc-gateway doctor [--self-test] [--url ADDRESS]`: finds problems, whether a gateway runs or not, and
 * changes nothing. Returns 1 when a check failed, else 0; warnings do not count.
 */
export async function doctorCommand(options: SubcommandOptions): Promise<number> {
  const { env, args, out } = options;
  checkedUrl(args.url ?? (env.SVC_URL || null));
  const outbound = new Outbound({ connectMs: () => CONNECT_MS });
  try {
    const found = await examine(await gather(options, outbound));
    const all = args.selfTest ? [...found, await selfTest(env.PATH)] : found;
    const width = Math.min(MAX_COLUMNS, process.stdout.columns ?? DEFAULT_COLUMNS);
    out(args.json ? reportJson(all) : reportText(all, width));
    return counted(all, 'fail') > 0 ? 1 : 0;
  } finally {
    await outbound.close();
  }
}
