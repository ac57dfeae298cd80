import type { GgufModel } from '../../models/gguf/writer.ts';
import type { GatewayOptions } from './gateway.ts';

/**
 * Slots that load when they are asked, each with a model of its own: `chats` with a window of so many tokens, `others` with
 * their usual one. They are what a gateway is started with.
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
