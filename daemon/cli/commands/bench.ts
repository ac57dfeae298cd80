import type { BenchResultView } from '../../contract/bench.ts';
import type { CommandContext } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { count } from '../format.ts';
import { json, plain } from '../output.ts';
import { fitted } from '../table.ts';

/** Long, because a model may have to be loaded first and nothing is sent until the end. */
const TIMEOUT_MS = 1_800_000;

const speed = (perSecond: number): string => `${Number(perSecond.toPrecision(3))} tok/s`;

/** Measures the speed of a chat model at three lengths of the prompt. */
export async function bench({ client, flags, out, width }: CommandContext, model?: string): Promise<number> {
  const body = model === undefined ? {} : { model };
  const result = await client.call<BenchResultView>('model.bench', body, { timeoutMs: TIMEOUT_MS });
  out(flags.json ? json(result) : table(result, width));
  return EXIT.ok;
}

function table({ model, slot, points }: BenchResultView, width: number): string {
  const rows = points.map((point) => [
    count(point.prompt_tokens),
    speed(point.prompt_per_second),
    count(point.generated_tokens),
    speed(point.generated_per_second),
  ]);
  const head = ['PROMPT TOKENS', 'PROMPT', 'NEW TOKENS', 'GENERATION'];
  return `${plain(model)} in slot ${plain(slot)}\n\n${fitted(head, rows, { width, shrink: [0] })}`;
}
