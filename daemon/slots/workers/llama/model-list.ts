import type { WorkerConfig, WorkerInfo } from '../protocol.ts';

/** The response of `GET /v1/models`: the one model of this worker. `created` is in Unix seconds. */
export function modelList(info: WorkerInfo, config: Pick<WorkerConfig, 'modelId'>, created: number): object {
  const { context, contextTrain, size } = info;
  const meta = { n_ctx: context, n_ctx_train: contextTrain, size };
  return { object: 'list', data: [{ id: config.modelId, object: 'model', created, owned_by: 'svc', meta }] };
}
