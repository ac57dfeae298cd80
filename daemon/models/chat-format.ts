/** How a chat is written for models whose file has no chat template. */
export interface ChatFormat {
  /** The name that llama.cpp gives the format. */
  readonly id: string;
  /** The tokens that a vocabulary of this format contains. */
  readonly tokens: readonly string[];
  /** Texts that end an answer, and are no part of it. */
  readonly ends: readonly string[];
  /** The template. */
  readonly source: string;
}

/** Writes each message as `open` + role + `between` + content + `close`, and opens the answer. */
function perMessage(open: string, between: string, close: string, assistant = 'assistant'): string {
  const role = assistant === 'assistant' ? 'm.role' : `('${assistant}' if m.role == 'assistant' else m.role)`;
  return (
    `{% for m in messages %}{{ '${open}' + ${role} + '${between}' + m.content + '${close}' }}{% endfor %}` +
    `{% if add_generation_prompt %}{{ '${open}${assistant}${between}' }}{% endif %}`
  );
}

/** Opens the turn of each role with its own token. */
const perRole = (of: Record<'system' | 'user' | 'assistant', string>, close: string, closeAnswer = close) =>
  `{% for m in messages %}{% if m.role == 'assistant' %}{{ '${of.assistant}' + m.content + ${closeAnswer} }}` +
  `{% elif m.role == 'system' %}{{ '${of.system}' + m.content + ${close} }}` +
  `{% else %}{{ '${of.user}' + m.content + ${close} }}{% endif %}{% endfor %}` +
  `{% if add_generation_prompt %}{{ '${of.assistant}' }}{% endif %}`;

/** Writes a leading system message at the beginning of the first turn of the user, which such models expect. */
const GEMMA =
  "{% set system = namespace(text='') %}{% for m in messages %}" +
  "{% if m.role == 'system' %}{% set system.text = system.text + m.content + '\\n\\n' %}{% else %}" +
  "{{ '<start_of_turn>' + ('model' if m.role == 'assistant' else 'user') + '\\n' + ('' if m.role == 'assistant' else system.text) + m.content + '<end_of_turn>\\n' }}" +
  "{% if m.role != 'assistant' %}{% set system.text = '' %}{% endif %}{% endif %}{% endfor %}" +
  "{% if add_generation_prompt %}{{ '<start_of_turn>model\\n' }}{% endif %}";

/** Base models of Qwen and many others have its tokens as well. */
const CHATML: ChatFormat = {
  id: 'chatml',
  tokens: ['<|im_start|>', '<|im_end|>'],
  ends: ['<|im_end|>', '<|im_start|>'],
  source: perMessage('<|im_start|>', '\\n', '<|im_end|>\\n'),
};

const COMMAND_R = '<|START_OF_TURN_TOKEN|>';

const FORMATS: readonly ChatFormat[] = [
  {
    id: 'gemma',
    tokens: ['<start_of_turn>', '<end_of_turn>'],
    ends: ['<end_of_turn>', '<start_of_turn>'],
    source: GEMMA,
  },
  {
    id: 'llama3',
    tokens: ['<|start_header_id|>', '<|end_header_id|>', '<|eot_id|>'],
    ends: ['<|eot_id|>', '<|start_header_id|>'],
    source: perMessage('<|start_header_id|>', '<|end_header_id|>\\n\\n', '<|eot_id|>'),
  },
  {
    id: 'llama4',
    tokens: ['<|header_start|>', '<|header_end|>', '<|eot|>'],
    ends: ['<|eot|>', '<|header_start|>'],
    source: perMessage('<|header_start|>', '<|header_end|>\\n\\n', '<|eot|>'),
  },
  {
    id: 'granite',
    tokens: ['<|start_of_role|>', '<|end_of_role|>', '<|end_of_text|>'],
    ends: ['<|end_of_text|>', '<|start_of_role|>'],
    source: perMessage('<|start_of_role|>', '<|end_of_role|>', '<|end_of_text|>\\n'),
  },
  {
    id: 'command-r',
    tokens: ['<|START_OF_TURN_TOKEN|>', '<|END_OF_TURN_TOKEN|>', '<|CHATBOT_TOKEN|>'],
    ends: ['<|END_OF_TURN_TOKEN|>', '<|START_OF_TURN_TOKEN|>'],
    source: perRole(
      {
        system: `${COMMAND_R}<|SYSTEM_TOKEN|>`,
        user: `${COMMAND_R}<|USER_TOKEN|>`,
        assistant: `${COMMAND_R}<|CHATBOT_TOKEN|>`,
      },
      "'<|END_OF_TURN_TOKEN|>'",
    ),
  },
  {
    id: 'deepseek3',
    tokens: ['<｜User｜>', '<｜Assistant｜>'],
    ends: ['<｜User｜>', '<｜end▁of▁sentence｜>'],
    source: perRole({ system: '', user: '<｜User｜>', assistant: '<｜Assistant｜>' }, "''", 'eos_token'),
  },
  {
    id: 'chatglm4',
    tokens: ['[gMASK]', '<|user|>', '<|assistant|>'],
    ends: ['<|user|>', '<|observation|>', '<|endoftext|>'],
    source: `[gMASK]<sop>${perRole(
      { system: '<|system|>\\n', user: '<|user|>\\n', assistant: '<|assistant|>\\n' },
      "''",
    )}`,
  },
  {
    id: 'phi3',
    tokens: ['<|user|>', '<|assistant|>', '<|end|>'],
    ends: ['<|end|>', '<|user|>'],
    source: perRole(
      { system: '<|system|>\\n', user: '<|user|>\\n', assistant: '<|assistant|>\\n' },
      "'<|end|>\\n'",
    ),
  },
  {
    id: 'mistral-v7',
    tokens: ['[INST]', '[/INST]', '[SYSTEM_PROMPT]'],
    ends: ['[INST]'],
    source:
      "{% for m in messages %}{% if m.role == 'assistant' %}{{ ' ' + m.content + eos_token }}" +
      "{% elif m.role == 'system' %}{{ '[SYSTEM_PROMPT] ' + m.content + '[/SYSTEM_PROMPT]' }}" +
      "{% else %}{{ '[INST] ' + m.content + '[/INST]' }}{% endif %}{% endfor %}",
  },
  CHATML,
];

/**
 * Returns the format of a chat for a vocabulary: the one whose tokens it contains, otherwise ChatML, as llama-server
 * does. A model that was never trained on ChatML writes its marks as text, which therefore end the answer.
 */
export function chatFormat(vocabulary: unknown): ChatFormat {
  if (!Array.isArray(vocabulary)) return CHATML;
  const wanted = new Set(FORMATS.flatMap(({ tokens }) => tokens));
  const found = new Set(vocabulary.filter((token) => wanted.has(token)));
  return FORMATS.find(({ tokens }) => tokens.every((token) => found.has(token))) ?? CHATML;
}
