/** Says whether the engine had to read the beginning of a conversation again. */
export const CONVERSATION_HEADER = 'x-svc-conversation';

/** Why the engine read the whole prompt, as the end of a sentence. */
export const COMPUTED_REASONS = {
  not_configured: 'conversations of this slot are not saved',
  unavailable: 'the model file could not be checked',
  too_short: 'the prompt is shorter than a saved conversation',
  no_saved_prefix: 'no saved conversation begins like it',
  changed_earlier: 'this model continues whole conversations only, and the saved one differs',
  settings_changed: 'the saved conversation belongs to other settings or to another version of the engine',
  model_changed: 'the saved conversation belongs to an earlier file of the model',
  damaged: 'the saved conversation could not be read',
} as const;
export type ComputedReason = keyof typeof COMPUTED_REASONS;
