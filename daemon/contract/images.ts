import { z } from 'zod';

const Usage = z.object({
  input_tokens: z.int(),
  output_tokens: z.int(),
  total_tokens: z.int(),
  input_tokens_details: z.record(z.string(), z.int()).optional(),
});

/**
 * The response of `POST /v1/images/generations` (docs/spec/specification.md#image-response) in the requested
 * form. Settings of the drawing are absent for a request that was forwarded unchanged.
 */
export const ImagesResponse = z.object({
  created: z.int(),
  data: z.array(
    z.union([
      z.object({ url: z.string(), revised_prompt: z.string().optional() }),
      z.object({ b64_json: z.string(), revised_prompt: z.string().optional() }),
    ]),
  ),
  output_format: z.enum(['png', 'jpeg', 'webp']).optional(),
  size: z.string().optional().describe('As an upstream reported it'),
  quality: z.string().optional(),
  background: z.string().optional(),
  usage: Usage.optional().describe('As an upstream reported it'),
  _svc: z.object({
    meta: z.object({
      seed: z.int().optional(),
      steps: z.int().optional(),
      cfg: z.number().optional(),
      width: z.int().optional(),
      height: z.int().optional(),
      sampler: z.string().optional(),
      family: z.string().optional(),
      family_source: z
        .enum(['slot', 'header', 'metadata', 'name', 'assumed'])
        .optional()
        .describe('Where the family of a model that is not built in is known from'),
      licence: z.string().optional(),
      duration_ms: z.int(),
      ignored: z.array(z.string()).optional().describe('Requested settings that this model does not support'),
    }),
    prompt_id: z.string(),
    upstream: z.string().describe('The slot or upstream that drew'),
    model: z.string(),
  }),
});
export type ImagesResponse = z.infer<typeof ImagesResponse>;
