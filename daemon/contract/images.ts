import { z } from 'zod';

/**
 * The response of `POST /v1/images/generations` (docs/spec/specification.md#image-response) in the requested
 * form.
 */
export const ImagesResponse = z.object({
  created: z.int(),
  data: z.array(z.union([z.object({ url: z.string() }), z.object({ b64_json: z.string() })])),
  _svc: z.object({
    meta: z.object({
      seed: z.int(),
      steps: z.int(),
      cfg: z.number(),
      width: z.int(),
      height: z.int(),
      sampler: z.string(),
      family: z.string(),
      licence: z.string(),
      duration_ms: z.int(),
      ignored: z.array(z.string()).optional().describe('Requested settings that this model does not support'),
    }),
    prompt_id: z.string(),
    upstream: z.string().describe('The slot or upstream that drew'),
    model: z.string(),
  }),
});
export type ImagesResponse = z.infer<typeof ImagesResponse>;
