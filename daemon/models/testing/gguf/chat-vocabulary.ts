import { BYTE_SPELLING, spell } from './byte-spelling.ts';
import { replyPieces } from './reply-chain.ts';

const NORMAL = 1;
const CONTROL = 3;

export interface ChatVocabulary {
  tokens: string[];
  types: number[];
  bos: number;
  end: number;
  start: number;
  call: number;
  /** Additional control tokens by text. */
  control: ReadonlyMap<string, number>;
  /** Token ids of the answer, in order. */
  reply: number[];
  /** Token ids of the tool call, in order. */
  toolCall: number[];
  /** A string value that fits under a grammar. */
  ok: number;
  /** Byte-pair merging needs at least one rule. This token is its product and occurs in no text. */
  merged: number;
}

export interface FixedCall {
  name: string;
  args: Readonly<Record<string, unknown>>;
}

export interface VocabularyOptions {
  /** Texts of additional control tokens. A piece of the script that is one of them becomes that token. */
  controls?: readonly string[];
  /** The answer in distinct pieces, instead of the words of the reply. */
  script?: readonly string[] | undefined;
}

/**
 * Builds bytes, four control tokens, and the pieces of the fixed answers. No merge produces the pieces, so
 * only generation uses them.
 */
export function chatVocabulary(
  reply: string,
  tool: FixedCall,
  { controls = [], script }: VocabularyOptions = {},
): ChatVocabulary {
  const tokens = [...BYTE_SPELLING];
  const types = new Array<number>(256).fill(NORMAL);
  const add = (text: string, type: number): number => {
    tokens.push(text);
    types.push(type);
    return tokens.length - 1;
  };
  const bos = add('<|bos|>', CONTROL);
  const end = add('<|im_end|>', CONTROL);
  const start = add('<|im_start|>', CONTROL);
  const call = add('<|call|>', CONTROL);
  const control = new Map(controls.map((text) => [text, add(text, CONTROL)]));
  const callText = [
    '<tool_call>\n',
    '{"name": "',
    tool.name,
    '", "arguments": ',
    JSON.stringify(tool.args),
    '}\n',
    '</tool_call>',
  ];
  const reserved = new Set([
    ...Array.from({ length: 128 }, (_, byte) => String.fromCharCode(byte)),
    ...callText,
    'ok',
  ]);
  return {
    tokens,
    types,
    bos,
    end,
    start,
    call,
    control,
    reply: (script ?? replyPieces(reply, reserved)).map(
      (piece) => control.get(piece) ?? add(spell(piece), NORMAL),
    ),
    toolCall: callText.map((piece) => add(spell(piece), NORMAL)),
    ok: add('ok', NORMAL),
    merged: add(`${BYTE_SPELLING[0]}${BYTE_SPELLING[0]}`, NORMAL),
  };
}
