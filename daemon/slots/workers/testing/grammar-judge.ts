import { getLlama, type Llama, LlamaLogLevel } from 'node-llama-cpp';
import { afterAll, beforeAll } from 'vitest';

/** Checks with llama.cpp whether a grammar matches a text. For the tests of one file. */
export function grammarJudge(): (grammar: string) => Promise<(text: string) => boolean> {
  let llama: Llama;
  beforeAll(async () => {
    llama = await getLlama({
      gpu: false,
      build: 'never',
      skipDownload: true,
      logLevel: LlamaLogLevel.disabled,
    });
  }, 30_000);
  afterAll(() => llama.dispose());
  return async (grammar) => {
    const compiled = await llama.createGrammar({ grammar });
    const native = compiled as typeof compiled & { _testText(text: string): boolean };
    return (text) => native._testText(text);
  };
}
