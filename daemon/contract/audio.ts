import { z } from 'zod';

/** `GET /v1/audio/voices`, in the form that chat apps expect. */
export const VoicesResponse = z.object({
  voices: z.array(
    z.object({
      /** Value for `voice` of a speech request. */
      id: z.string(),
      name: z.string(),
      /** The model that has it. */
      model: z.string(),
      /** Tag such as `en-US`, else as its file states it; null when unknown. */
      language: z.string().nullable(),
      /** A sentence in this language, to hear the voice. */
      sample: z.string(),
    }),
  ),
});

/** `GET /v1/audio/models`: models that speak, with their slot names. */
export const AudioModelsResponse = z.object({
  models: z.array(z.object({ id: z.string(), name: z.string() })),
});

export type VoiceList = z.infer<typeof VoicesResponse>;
export type AudioModelList = z.infer<typeof AudioModelsResponse>;
