import type { Drawing } from './drawing.ts';

const SAMPLERS = { euler: 'euler', euler_ancestral: 'euler_a' } as const;

/**
 * A drawing in the native form of stable-diffusion.cpp's server, which also stands inside `<sd_cpp_extra_args>`. Its
 * seeds have 63 bits; notes that it would write into the picture are not asked for. Pure.
 */
export function sdRequest(drawing: Drawing): Record<string, unknown> {
  const { model, prompt, negativePrompt, count, width, height, seed, steps, cfg } = drawing;
  const guidance = model.family === 'flux-dev' ? { txt_cfg: 1, distilled_guidance: cfg } : { txt_cfg: cfg };
  return {
    prompt,
    negative_prompt: model.takes.negative ? negativePrompt : '',
    width,
    height,
    seed,
    batch_count: count,
    sample_params: { sample_method: SAMPLERS[model.sampler], sample_steps: steps, guidance },
    embed_image_metadata: false,
    output_format: 'png',
  };
}

/** A text without what the server would take for orders: only ours may stand in it. */
const stripExtraArgs = (prompt: string): string =>
  prompt.replaceAll(/<\/?\s*sd_cpp_extra_args\b[^>]*>?/gi, ' ');

/** The same for versions that only have the OpenAI-style route: all but prompt, number and size inside the prompt. Pure. */
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
