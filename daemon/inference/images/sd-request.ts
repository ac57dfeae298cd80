import type { Drawing } from './drawing.ts';

/** Names of samplers that differ from those of ComfyUI. */
const SAMPLERS: Readonly<Record<string, string>> = {
  euler_ancestral: 'euler_a',
  dpm_2: 'dpm2',
  dpmpp_2m: 'dpm++2m',
  dpmpp_2s_ancestral: 'dpm++2s_a',
  ddim: 'ddim_trailing',
};

/**
 * Converts a drawing to the native request of stable-diffusion.cpp's server, also used inside
 * `<sd_cpp_extra_args>`. Its seeds have 63 bits. Requests no metadata in the image. Pure.
 */
export function sdRequest(drawing: Drawing): Record<string, unknown> {
  const { model, prompt, negativePrompt, count, width, height, seed, steps, cfg } = drawing;
  const guidance =
    model.family === 'flux-dev' || model.family === 'flux2'
      ? { txt_cfg: 1, distilled_guidance: cfg }
      : { txt_cfg: cfg };
  return {
    prompt,
    negative_prompt: model.takes.negative ? negativePrompt : '',
    width,
    height,
    seed,
    batch_count: count,
    sample_params: { sample_method: SAMPLERS[model.sampler] ?? model.sampler, sample_steps: steps, guidance },
    embed_image_metadata: false,
    output_format: 'png',
  };
}

/** Removes text that the server would interpret as extra arguments; only ours may be present. */
const stripExtraArgs = (prompt: string): string =>
  prompt.replaceAll(/<\/?\s*sd_cpp_extra_args\b[^>]*>?/gi, ' ');

/**
 * Converts a drawing for versions with the OpenAI-style route only: everything but prompt, count and size
 * goes into the prompt. Pure.
 */
export function sdPromptRequest(drawing: Drawing): Record<string, unknown> {
  const { prompt: _, batch_count, output_format, ...args } = sdRequest(drawing);
  const orders = JSON.stringify(args).replaceAll('<', '\\u003c');
  return {
    prompt: `${stripExtraArgs(drawing.prompt)} <sd_cpp_extra_args>${orders}</sd_cpp_extra_args>`,
    n: batch_count,
    size: `${drawing.width}x${drawing.height}`,
    output_format,
  };
}
