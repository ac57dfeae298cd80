import { afterEach, describe, expect, it, vi } from 'vitest';
import { readChunk, runChat } from './run-chat.ts';

const stream = (text: string): Response =>
  new Response(text, { headers: { 'x-svc-slot': 'agent', 'x-request-id': 'r-9' } });
const chunk = (delta: object, finish: string | null = null): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const run = async (text: string): Promise<{ content: string; reasoning: string; facts: unknown }> => {
  vi.stubGlobal('fetch', async () => stream(text));
  let [content, reasoning] = ['', ''];
  const facts = await runChat({}, new AbortController().signal, (piece) => {
    content += piece.content;
    reasoning += piece.reasoning;
  });
  return { content, reasoning, facts };
};

afterEach(() => vi.unstubAllGlobals());

describe('runChat', () => {
  it('separates text and reasoning and reads the usage after the finish', async () => {
    const usage = 'data: {"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":2}}\n\n';
    const text =
      chunk({ role: 'assistant', content: null }) +
      chunk({ reasoning_content: 'Hm.' }) +
      ': still loading\n\n' +
      chunk({ content: 'Hel' }) +
      chunk({ content: 'lo' }) +
      chunk({}, 'stop') +
      `${usage}data: [DONE]\n\n`;
    const { content, reasoning, facts } = await run(text);
    expect([content, reasoning]).toEqual(['Hello', 'Hm.']);
    expect(facts).toMatchObject({ slot: 'agent', requestId: 'r-9', promptTokens: 5, tokens: 2 });
  });

  it('reads the reasoning of every provider', async () => {
    const parts = [{ type: 'thinking', thinking: [{ type: 'text', text: ' So.' }] }];
    const text =
      chunk({ content: '', reasoning: 'Hm.' }) +
      chunk({ content: parts }) +
      chunk({ content: 'Hello' }, 'stop');
    const { content, reasoning } = await run(text);
    expect([content, reasoning]).toEqual(['Hello', 'Hm. So.']);
  });

  it('marks an answer that ended at its token limit', async () => {
    const at = async (finish: string) => (await run(chunk({ content: 'Hel' }) + chunk({}, finish))).facts;
    expect(await at('length')).toMatchObject({ limited: true });
    expect(await at('stop')).toMatchObject({ limited: false });
  });

  it('throws an error event with the message of the catalogue', async () => {
    const error = { code: 'slot.failed', message: 'The slot has failed.', details: { reason: 'killed' } };
    await expect(
      run(`${chunk({ content: 'Hel' })}data: ${JSON.stringify({ error })}\n\n`),
    ).rejects.toMatchObject({
      info: { code: 'slot.failed', requestId: 'r-9', details: { reason: 'killed' } },
    });
  });

  it('reports a cut stream without an end marker or with invalid JSON', async () => {
    await expect(run(chunk({ content: 'Hel' }))).rejects.toMatchObject({ info: { code: 'stream.cut' } });
    await expect(run('data: {"cho\n\n')).rejects.toMatchObject({ info: { code: 'stream.cut' } });
  });
});

describe('readChunk', () => {
  it('returns null for a chunk without text', () => {
    const progress = { ended: false, limited: false, usage: null };
    expect(readChunk('{"choices":[{"delta":{"role":"assistant"}}]}', progress, new Headers())).toBeNull();
    expect(progress.ended).toBe(false);
    expect(readChunk('[DONE]', progress, new Headers())).toBeNull();
    expect(progress.ended).toBe(true);
  });
});
