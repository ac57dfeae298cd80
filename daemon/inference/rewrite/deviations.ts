import type { SlotTypeName } from '../../contract/slots.ts';
import type { OutboundBody } from '../../lib/net/outbound.ts';
import type { ModelRef } from '../dispatch/model-ref.ts';
import { resolveConfiguredName } from '../dispatch/resolve-name.ts';
import type { RoutingView } from '../dispatch/routing-view.ts';
import type { BodyIndex } from './body-index.ts';
import type { BodyContext, BodyRule } from './body-rule.ts';
import { continuedAnswer } from './continued-answer.ts';
import { type Edit, render } from './edits.ts';
import { effort } from './effort.ts';
import { loadModel } from './load-model.ts';
import { setModel } from './model-value.ts';
import { npuSuffix } from './npu-suffix.ts';
import { omni } from './omni.ts';
import { dropDuplicates } from './one-value.ts';
import { answerLimit } from './output-limit.ts';
import { slotAlias } from './slot-alias.ts';
import { streamUsage } from './stream-usage.ts';
import { systemMessages } from './system-messages.ts';
import { thinking } from './thinking.ts';
import { translatedHistory } from './translated-history.ts';
import { unreadableParts } from './unreadable-parts.ts';
import { virtualName } from './virtual-name.ts';

type ModelRefRule = (address: ModelRef, view: RoutingView, type: SlotTypeName) => ModelRef;

/**
 * A deviation changes the model reference (before dispatch), the body (once the target is known) or the slot.
 */
type Deviation =
  | { readonly name: string; readonly modelRef: ModelRefRule }
  | { readonly name: string; readonly body: BodyRule }
  | { readonly name: string; readonly slot: typeof loadModel };

/** The seven deviations of docs/spec/specification.md#chat-deviations in order. */
export const CHAT_DEVIATIONS: readonly Deviation[] = [
  { name: 'omni', body: omni },
  { name: 'slot-alias', modelRef: slotAlias },
  { name: 'npu-suffix', modelRef: npuSuffix },
  { name: 'virtual-name', modelRef: virtualName },
  { name: 'thinking', body: thinking },
  { name: 'system-messages', body: systemMessages },
  { name: 'load-model', slot: loadModel },
];

const MODEL_REF_RULES: readonly ModelRefRule[] = [
  resolveConfiguredName,
  ...CHAT_DEVIATIONS.flatMap((each) => ('modelRef' in each ? [each.modelRef] : [])),
];
/**
 * Rules of the gateway that are not in docs/spec/specification.md#chat-deviations come before the deviations.
 */
const BODY_RULES: readonly BodyRule[] = [
  ...[answerLimit, translatedHistory, unreadableParts, effort, streamUsage, continuedAnswer],
  ...CHAT_DEVIATIONS.flatMap((each) => ('body' in each ? [each.body] : [])),
];

/**
 * Applies aliases, NPU tags and virtual names on every `/v1` route with a model; `type` is what the route
 * requires.
 */
export function rewriteModelRef(address: ModelRef, view: RoutingView, type: SlotTypeName): ModelRef {
  return MODEL_REF_RULES.reduce((current, rule) => rule(current, view, type), address);
}

/** Returns the body of a chat for the engine; unchanged bytes when no rule applies. */
export function rewriteChat(
  context: BodyContext,
  requested: string | null,
  model: string | null,
): OutboundBody {
  const { index } = context;
  const edits: Edit[] = [];
  add(edits, dropDuplicates(index));
  add(edits, setModel(index, requested, model));
  for (const rule of BODY_RULES) add(edits, rule(context));
  return render(index, edits);
}

/** Spreading costs more than most rules do, and almost all lists are empty. */
function add(edits: Edit[], more: readonly Edit[]): void {
  for (let at = 0; at < more.length; at++) edits.push(more[at] as Edit);
}

/**
 * Returns the body of every other JSON route: changes only `model`, and only if a rewrite or the
 * omitted-model rule changed it.
 */
export function rewriteModel(index: BodyIndex, requested: string | null, model: string | null): OutboundBody {
  return render(index, [...dropDuplicates(index), ...setModel(index, requested, model)]);
}

/** Like `rewriteModel`, for a completion, whose stream reports its token counts. */
export function rewriteCompletion(
  context: BodyContext,
  requested: string | null,
  model: string | null,
): OutboundBody {
  const { index } = context;
  const edits = [...dropDuplicates(index), ...setModel(index, requested, model), ...streamUsage(context)];
  return render(index, edits);
}
