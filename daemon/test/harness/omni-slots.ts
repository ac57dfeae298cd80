import type { GgufModel } from '../../models/testing/gguf/writer.ts';
import type { GatewayOptions } from './gateway.ts';

/**
 * Start options with one slot per model, loaded on demand: `chats` with a context window of `context` tokens, `others` with
 * their default window.
 */
export function slotsOf(
  context: number,
  chats: Readonly<Record<string, GgufModel>>,
  others: Readonly<Record<string, GgufModel>> = {},
): Required<Pick<GatewayOptions, 'models' | 'files'>> {
  const all = Object.entries({ ...chats, ...others });
  const window = (name: string) => (name in chats ? `context = ${context}\n` : '');
  return {
    models: Object.fromEntries(all.map(([name, model]) => [`${name}-model`, model])),
    files: Object.fromEntries(
      all.map(([name]) => [
        `config/slots/${name}.toml`,
        `model = "${name}-model"\n${window(name)}autoload = false\n`,
      ]),
    ),
  };
}
