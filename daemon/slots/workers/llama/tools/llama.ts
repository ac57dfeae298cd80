import { bareStart } from './bare-json.ts';
import type { CallScanner } from './pieces.ts';
import { type Accepts, type SchemaOf, scanner } from './scanner.ts';
import { QWEN_CODER } from './tag-families.ts';
import { taggedText } from './tagged.ts';

/**
 * Llama 3: bare JSON at the start of the answer, as its templates request, or one of the forms from its
 * training: Python's `[name(key=value)]`, and `<function=name>{…}</function>` anywhere in the text.
 */
export const llamaCalls = (accepts: Accepts, schemaOf: SchemaOf): CallScanner =>
  scanner(bareStart(accepts, { schemaOf, otherwise: () => taggedText(QWEN_CODER, accepts, schemaOf) }));
