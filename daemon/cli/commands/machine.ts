import type { HardwareView } from '../../contract/hardware.ts';
import type { UsageView } from '../../contract/system.ts';
import { formatBytes } from '../../lib/text/bytes-text.ts';
import { plural } from '../../lib/text/plural.ts';
import type { CommandContext } from '../command.ts';
import { evidenceText } from '../evidence.ts';
import { EXIT } from '../exit-codes.ts';
import { clock } from '../format.ts';
import { json, plain } from '../output.ts';
import { fields, fitted } from '../table.ts';

const hardware = (route: 'hardware' | 'hardware.probe') => async (context: CommandContext) => {
  const { client, flags, out, width } = context;
  const view = await client.call<HardwareView>(route, undefined, { timeoutMs: 120_000 });
  if (flags.json) out(json(view));
  else out(hardwareText(view, width) + (flags.evidence ? `\n${evidenceText(view.evidence, width)}` : ''));
  return EXIT.ok;
};

export const showHardware = hardware('hardware');
export const probeHardware = hardware('hardware.probe');

function hardwareText({ host, devices, pools, problems, probed_at }: HardwareView, width: number): string {
  const rows = devices.map((each) => [
    each.id,
    each.kind,
    each.name,
    each.driver ?? '-',
    formatBytes(each.memory_total_bytes),
    each.unused_reason === null ? each.access : 'unused',
  ]);
  const poolRows = pools.map((each) => [
    each.id,
    each.kind,
    formatBytes(each.total_bytes),
    formatBytes(each.available_bytes),
    each.limited_by,
  ]);
  const notes = [
    ...devices.flatMap(({ id, unused_reason }) => (unused_reason ? [`! ${id}: ${unused_reason}`] : [])),
    ...problems.map(({ probe, reason }) => `! ${probe}: ${reason}`),
  ];
  return [
    fields({
      Processor: `${host.cpu}, ${plural(host.cores_physical, 'core')} (${plural(host.cores_logical, 'thread')})`,
      Memory: `${formatBytes(host.memory_total_bytes)}, ${formatBytes(host.memory_available_bytes)} available`,
      System: host.os ?? 'unknown',
      ...(host.swap_total_bytes
        ? { Swap: `${formatBytes(host.swap_total_bytes)}, ${formatBytes(host.swap_used_bytes)} used` }
        : {}),
      Probed: clock(new Date(probed_at), new Date()),
    }),
    `\n${fitted(['DEVICE', 'KIND', 'NAME', 'DRIVER', 'MEMORY', 'ACCESS'], rows, { width, shrink: [2, 0] })}`,
    `\n${fitted(['POOL', 'KIND', 'TOTAL', 'AVAILABLE', 'LIMITED BY'], poolRows, { width, shrink: [0] })}`,
    diskTable(host.disks ?? [], width),
    networkTable(host.networks ?? [], width),
    ...notes.map((note) => `${plain(note)}\n`),
  ].join('');
}

function diskTable(disks: NonNullable<HardwareView['host']['disks']>, width: number): string {
  if (disks.length === 0) return '';
  const rows = disks.map((each) => [
    each.mount,
    each.type ?? '-',
    formatBytes(each.total_bytes),
    formatBytes(each.available_bytes),
  ]);
  return `\n${fitted(['DISK', 'TYPE', 'TOTAL', 'AVAILABLE'], rows, { width, shrink: [0] })}`;
}

function networkTable(networks: NonNullable<HardwareView['host']['networks']>, width: number): string {
  if (networks.length === 0) return '';
  const rows = networks.map((each) => [
    each.default ? `${each.name} (default)` : each.name,
    each.kind ?? '-',
    each.ipv4 ?? '-',
    each.ipv6 ?? '-',
    each.speed_mbit === null ? '-' : `${each.speed_mbit} Mbit/s`,
  ]);
  return `\n${fitted(['INTERFACE', 'KIND', 'IPV4', 'IPV6', 'SPEED'], rows, { width, shrink: [3] })}`;
}

/** A sum of tokens, as a minimum when requests without token counts are part of it. */
const atLeast = (tokens: number, uncounted: number): string =>
  uncounted > 0 ? `>= ${tokens}` : String(tokens);

export async function usage({ client, flags, out, width }: CommandContext): Promise<number> {
  const query = { days: flags.days };
  const view = await client.call<UsageView>('usage', undefined, { query });
  const rows = view.days.map((each) => [
    each.day,
    each.tier,
    each.model === '' ? '-' : each.model,
    String(each.requests),
    atLeast(each.prompt_tokens, each.uncounted),
    atLeast(each.completion_tokens, each.uncounted),
  ]);
  if (flags.json) out(json(view));
  else if (rows.length === 0) out(`No request since ${view.since}.\n`);
  else {
    const head = ['DAY (UTC)', 'TIER', 'MODEL', 'REQUESTS', 'TOKENS IN', 'TOKENS OUT'];
    out(fitted(head, rows, { width, shrink: [2] }));
    const uncounted = view.days.reduce((sum, each) => sum + each.uncounted, 0);
    const verb = uncounted === 1 ? 'has' : 'have';
    if (uncounted > 0) out(`! >= is a minimum: ${plural(uncounted, 'request')} ${verb} no token counts\n`);
    if (view.truncated) out('! older rows were left out\n');
  }
  return EXIT.ok;
}
