import type { KvCacheCleared, KvCacheView } from '../../contract/kv-cache.ts';
import { formatBytes } from '../../lib/text/bytes-text.ts';
import type { CommandContext } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { clock } from '../format.ts';
import { json } from '../output.ts';
import { fields, fitted } from '../table.ts';

const PLACES: Readonly<Record<KvCacheView['persist'], string>> = {
  off: 'nowhere (kv_cache.persist = "off")',
  memory: 'in memory, until the gateway ends',
  disk: 'on disk',
};

export async function show({ client, flags, out, width }: CommandContext): Promise<number> {
  const view = await client.call<KvCacheView>('kv-cache');
  out(flags.json ? json(view) : summary(view) + statesByModel(view, width));
  return EXIT.ok;
}

function summary(view: KvCacheView): string {
  return fields({
    Saved: PLACES[view.persist],
    ...(view.problem === null ? {} : { Problem: view.problem }),
    Size: `${formatBytes(view.bytes)} of ${formatBytes(view.max_bytes)}, ${view.states} conversations`,
    ...(view.unsupported.length === 0
      ? {}
      : {
          'Not saved': view.unsupported
            .map(({ slot, model, reason }) => `${slot} (${model}): ${reason}`)
            .join(' '),
        }),
    Used: `by ${view.hits} requests, ${view.restored_tokens} tokens not computed again`,
  });
}

function statesByModel({ models }: KvCacheView, width: number): string {
  if (models.length === 0) return '';
  const rows = models.map(({ model, states, bytes, last_used_at: at }) => [
    model,
    String(states),
    formatBytes(bytes),
    clock(new Date(at), new Date()),
  ]);
  return `\n${fitted(['MODEL', 'CONVERSATIONS', 'SIZE', 'LAST USED'], rows, { width, shrink: [0] })}`;
}

export async function clear({ client, flags, out }: CommandContext, model?: string): Promise<number> {
  const query = model === undefined ? {} : { query: { model } };
  const cleared = await client.call<KvCacheCleared>('kv-cache.clear', undefined, query);
  const { deleted, bytes } = cleared;
  out(flags.json ? json(cleared) : `Deleted ${deleted} saved conversations (${formatBytes(bytes)}).\n`);
  return EXIT.ok;
}
