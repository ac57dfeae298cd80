import type { BenchResultView } from '../../contract/bench.ts';
import type { CommandContext } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { count } from '../format.ts';
import { json, plain } from '../output.ts';
import { fitted, table } from '../table.ts';

/** Long, because a model may have to be loaded first and nothing is sent until the end. */
const TIMEOUT_MS = 1_800_000;

const speed = (perSecond: number): string => `${Number(perSecond.toPrecision(3))} tok/s`;

/** Measures the speed of a chat model at three lengths of the prompt. */
export async function bench({ client, flags, out, width }: CommandContext, model?: string): Promise<number> {
  const body = model === undefined ? {} : { model };
  const result = await client.call<BenchResultView>('model.bench', body, { timeoutMs: TIMEOUT_MS });
  out(flags.json ? json(result) : resultText(result, width));
  return EXIT.ok;
}

function aheadText({ ngram }: BenchResultView): string {
  if (ngram === null) return '';
  const row = (what: string, { off, ngram: ahead }: { off: number; ngram: number }) =>
    [what, speed(off), speed(ahead)] as const;
  const rows = [row('text that repeats', ngram.repeats), row('other text', ngram.plain)];
  return `\n${table(['GENERATION', 'SPECULATION OFF', 'NGRAM'], rows)}`;
}

function resultText(result: BenchResultView, width: number): string {
  const { model, slot, points } = result;
  const rows = points.map((point) => [
    count(point.prompt_tokens),
    speed(point.prompt_per_second),
    count(point.generated_tokens),
    speed(point.generated_per_second),
  ]);
  const head = ['PROMPT TOKENS', 'PROMPT', 'NEW TOKENS', 'GENERATION'];
  return `${plain(model)} in slot ${plain(slot)}\n\n${fitted(head, rows, { width, shrink: [0] })}${aheadText(result)}`;
}
