import { z } from 'zod';

/** One record of `GET /v1/models`. */
export const V1Model = z.object({
  id: z.string(),
  object: z.literal('model'),
  /** Unix seconds, stable over restarts. */
  created: z.number().int(),
  owned_by: z.string(),
  name: z.string(),
  context_length: z.number().int(),
  max_model_len: z.number().int(),
  architecture: z.object({ input_modalities: z.array(z.string()), output_modalities: z.array(z.string()) }),
  capabilities: z.record(z.string(), z.boolean()),
  pricing: z.object({ prompt: z.string(), completion: z.string() }),
  _svc: z.object({
    slot: z.string().nullable(),
    state: z.string(),
    is_alias: z.boolean().optional(),
    virtual: z.boolean().optional(),
    resolves_to: z.string().optional(),
    device: z.string().optional(),
    demo: z.boolean().optional(),
  }),
});
export const V1ModelList = z.object({ object: z.literal('list'), data: z.array(V1Model) });

/** One row of the registry (`GET /api/models`); never a path. */
export const ModelView = z.object({
  id: z.string(),
  name: z.string(),
  type: z.enum(['llm', 'embedding', 'rerank', 'stt', 'tts', 'image']),
  format: z.string(),
  architecture: z.string().nullable(),
  quantization: z.string().nullable(),
  size_bytes: z.number().int(),
  context_length: z.number().int().nullable(),
  enable_thinking: z.boolean().nullable(),
  demo: z.boolean(),
  binding: z.string().nullable(),
  created: z.number().int(),
});
export const ModelsResponse = z.object({ models: z.array(ModelView) });

/** `slot:NAME`, `upstream:NAME`, or null to let the gateway choose. */
export const ModelPut = z.strictObject({
  binding: z
    .string()
    .regex(/^(slot|upstream):[a-z0-9][a-z0-9_-]{0,31}$/, 'must be slot:NAME or upstream:NAME')
    .nullable(),
});

export type V1ModelRecord = z.infer<typeof V1Model>;
export type ModelRecordView = z.infer<typeof ModelView>;
