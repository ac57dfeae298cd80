import { GatewayError } from '../../contract/errors.ts';
import type { AgentPutBody, AgentView } from '../../contract/models.ts';
import { memoryDevice } from '../../slots/engines/common.ts';
import { audit } from '../audit.ts';
import { configWrite } from '../config-write.ts';
import type { RouteDeps } from '../deps.ts';
import type { Handler } from '../handler.ts';

const AGENT = 'agent';

/** `/api/agent`: which model slot `agent` has, and the choice of another one. */
export function agentRoutes(deps: RouteDeps) {
  const { registry, slots } = deps;
  const view = (): AgentView => {
    const config = slots.config(AGENT);
    const isNamed = config?.model != null;
    const isSetting = registry.isAgentConfigured();
    const offer = config === undefined || isNamed ? null : registry.agentOffer(memoryDevice(config));
    return {
      model: slots.get(AGENT)?.model ?? null,
      chosen_by: isSetting ? 'setting' : isNamed ? 'slot_file' : 'gateway',
      offer: offer && { model: offer.id, name: offer.name, size_bytes: offer.sizeBytes },
    };
  };
  const put: Handler = async (ctx) => {
    const { model } = ctx.request.body as AgentPutBody;
    if (registry.isAgentConfigured())
      throw new GatewayError('slot.invalid', {
        message: 'SVC_MODEL, models.agent or --model names the model of slot agent. Remove it first.',
      });
    if (slots.config(AGENT)?.model != null) await configWrite(() => slots.swap(AGENT, { modelId: model }));
    else if (!registry.chooseAgent(model)) throw new GatewayError('model.not_found');
    else slots.followModels(AGENT);
    audit(deps, ctx, 'agent.put', { model });
    ctx.body = view();
  };
  const get: Handler = (ctx) => {
    ctx.body = view();
  };
  return { agent: get, 'agent.put': put } satisfies Record<string, Handler>;
}
