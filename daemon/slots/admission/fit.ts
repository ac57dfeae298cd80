import type { ModelFitView } from '../../contract/catalog.ts';
import type { MemorySumView } from '../../contract/slots.ts';
import type { SlotConfig } from '../config/slot-config.ts';
import { automaticSlot } from '../config/slot-file.ts';
import type { SlotModel } from '../engines/engine.ts';
import { defaultRunnerOf, engineFor } from '../engines/table.ts';
import type { Forecast } from './controller.ts';
import { HOST_POOL } from './memory-use.ts';

/** Smaller context windows to try when the default one does not fit, in tokens. */
const SMALLER_CONTEXTS = [65_536, 32_768, 16_384, 8192, 4096, 2048];
/** Name of the hypothetical slot; no real slot is meant. */
const PLACEHOLDER_NAME = 'catalog';
/** The engine for image models that consist of one file. */
const IMAGE_ENGINE = 'sd-server';
/** The engine that keeps experts on the CPU. */
const EXPERT_ENGINE = 'llama-server';

/**
 * Returns the slot that a model would get if it were installed, with this context window; null means the engine's
 * default.
 */
export function slotFor({ id, type }: Pick<SlotModel, 'id' | 'type'>, context: number | null): SlotConfig {
  const engine = type === 'image' ? IMAGE_ENGINE : engineFor(type, 'gguf');
  return { ...automaticSlot(PLACEHOLDER_NAME, type, id, engine), context };
}

function fitView(badge: ModelFitView['badge'], { plan, view }: Forecast): ModelFitView {
  const { context } = plan.launch;
  const { pool, needed } = view.sum;
  const free = availableBytes(view.sum);
  const window = context === 0 ? null : context;
  return { badge, context: window, evicts: [...view.evicts], needed, free, pool, cpu_experts: null };
}

/**
 * Returns the bytes that one more model may take: the available memory minus reservations, within the limit for
 * slots.
 */
function availableBytes({ free, reserved, kept_free, limit, held }: MemorySumView): number {
  const usable = free - reserved - kept_free;
  return Math.max(0, limit === null ? usable : Math.min(usable, limit - held));
}

type ForecastFor = (config: SlotConfig, model: SlotModel) => Forecast;

/** Returns what llama-server would keep on the CPU of a mixture of experts. Null when it would not. */
function cpuExperts(model: SlotModel, forecast: ForecastFor): ModelFitView['cpu_experts'] {
  if (model.experts == null) return null;
  const config = { ...slotFor(model, null), engine: EXPERT_ENGINE, runner: defaultRunnerOf(EXPERT_ENGINE) };
  const { plan, view } = forecast(config, model);
  const { expertLayersOnCpu: layers } = plan.launch;
  if (layers === undefined || view.outcome === 'refused') return null;
  return { engine: EXPERT_ENGINE, layers, of: model.experts.layers, bytes: plan.need.host };
}

/**
 * Returns whether a model could be loaded now, by the forecast of admission for its slot
 * (docs/spec/contract.md#admission): with the usual window, otherwise with a smaller one, otherwise after an
 * eviction, otherwise not at all. `hasExpertEngine`: llama-server is installed. Pure but for `forecast`.
 */
export function fitOf(model: SlotModel, forecast: ForecastFor, hasExpertEngine = false): ModelFitView {
  const view = ownFit(model, forecast);
  return hasExpertEngine && view.pool === HOST_POOL
    ? { ...view, cpu_experts: cpuExperts(model, forecast) }
    : view;
}

function ownFit(model: SlotModel, forecast: ForecastFor): ModelFitView {
  const usual = forecast(slotFor(model, null), model);
  if (usual.view.outcome === 'starts') return fitView('fits', usual);
  for (const context of SMALLER_CONTEXTS.filter((window) => window < usual.plan.launch.context)) {
    const smaller = forecast(slotFor(model, context), model);
    if (smaller.view.outcome === 'starts') return fitView('fits_with_context', smaller);
  }
  return fitView(usual.view.outcome === 'refused' ? 'does_not_fit' : 'needs_eviction', usual);
}
