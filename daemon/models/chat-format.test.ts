import { expect, test } from 'vitest';
import { chatFormat } from './chat-format.ts';

test.each<[string, string[]]>([
  ['gemma', ['<bos>', '<start_of_turn>', '<end_of_turn>']],
  ['llama3', ['<|begin_of_text|>', '<|start_header_id|>', '<|end_header_id|>', '<|eot_id|>']],
  ['llama4', ['<|header_start|>', '<|header_end|>', '<|eot|>']],
  ['granite', ['<|start_of_role|>', '<|end_of_role|>', '<|end_of_text|>']],
  ['command-r', ['<|START_OF_TURN_TOKEN|>', '<|END_OF_TURN_TOKEN|>', '<|CHATBOT_TOKEN|>']],
  ['deepseek3', ['<｜User｜>', '<｜Assistant｜>', '<｜end▁of▁sentence｜>']],
  ['chatglm4', ['[gMASK]', '<sop>', '<|user|>', '<|assistant|>', '<|observation|>']],
  ['phi3', ['<|user|>', '<|assistant|>', '<|end|>', '<|endoftext|>']],
  ['mistral-v7', ['[INST]', '[/INST]', '[SYSTEM_PROMPT]', '[/SYSTEM_PROMPT]']],
  ['chatml', ['<|im_start|>', '<|im_end|>', '<|endoftext|>']],
  ['chatml', ['a', 'b']],
  ['chatml', ['<start_of_turn>', 'only the first token of Gemma']],
  ['chatml', ['<|im_start|>', '<|im_end|>', '<|user|>']],
])('finds %s in a vocabulary', (id, vocabulary) => {
  expect(chatFormat(['x', ...vocabulary, 'y']).id).toBe(id);
});

test('an unreadable vocabulary has ChatML', () => {
  expect([undefined, null, 'tokens', {}].map((value) => chatFormat(value).id)).toEqual(
    Array(4).fill('chatml'),
  );
});
