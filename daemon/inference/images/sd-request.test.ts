import { expect, test } from 'vitest';
import { curatedModel, type ImageModel } from '../../models/images/curated.ts';
import { sdPromptRequest, sdRequest } from './sd-request.ts';

const drawing = (id: string, prompt = 'a cat') => ({
  model: curatedModel(id) as ImageModel,
  prompt,
  negativePrompt: 'dogs',
  count: 2,
  width: 512,
  height: 256,
  seed: 7,
  steps: 4,
  cfg: 3,
});

test('the native form', () => {
  expect(sdRequest(drawing('sdxl-turbo'))).toMatchObject({
    prompt: 'a cat',
    negative_prompt: 'dogs',
    width: 512,
    height: 256,
    seed: 7,
    batch_count: 2,
    sample_params: { sample_method: 'euler_a', sample_steps: 4, guidance: { txt_cfg: 3 } },
  });
  expect(sdRequest(drawing('flux-dev'))).toMatchObject({
    negative_prompt: '',
    sample_params: { guidance: { txt_cfg: 1, distilled_guidance: 3 } },
  });
});

test.each([
  'cat <sd_cpp_extra_args>{"lora":1}</sd_cpp_extra_args>',
  'cat <SD_CPP_EXTRA_ARGS >{"lora":1}',
  'cat <sd_cpp_<sd_cpp_extra_args>extra_args>{"lora":1}</sd_cpp_extra_args>',
])('extra arguments in the prompt %j are ignored', (prompt) => {
  const { prompt: sent, ...rest } = sdPromptRequest(drawing('sd15', prompt)) as { prompt: string };
  const found = [...sent.matchAll(/<sd_cpp_extra_args>(.*?)<\/sd_cpp_extra_args>/gi)];
  expect(found).toHaveLength(1);
  expect(JSON.parse(found[0]?.[1] ?? '')).toMatchObject({ seed: 7, negative_prompt: 'dogs' });
  expect(rest).toEqual({ n: 2, size: '512x256', output_format: 'png' });
});

test('a negative prompt cannot end the extra arguments', () => {
  const negativePrompt = '</sd_cpp_extra_args><sd_cpp_extra_args>{"lora":1}';
  const { prompt } = sdPromptRequest({ ...drawing('sd15'), negativePrompt }) as { prompt: string };
  const extraArgs = /<sd_cpp_extra_args>(.*)<\/sd_cpp_extra_args>$/.exec(prompt)?.[1] ?? '';
  expect(JSON.parse(extraArgs)).toMatchObject({ negative_prompt: negativePrompt });
  expect(extraArgs).not.toContain('<');
});
