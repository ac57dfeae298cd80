import type { Term } from '../../ui/help.tsx';

/** Explanations of the terms that a newcomer cannot guess. */
export const TERMS = {
  slot: {
    question: 'What is a slot?',
    short: 'A slot runs one model under a fixed name.',
    more:
      'Apps send the slot name as the model name, so you can swap the model without changing them. ' +
      'The gateway loads a slot on its first request and unloads idle slots when another one needs the memory.',
  },
  pool: {
    question: 'What is a memory pool?',
    short:
      'A memory pool is memory that several models share: the RAM of this machine, or the memory of one GPU.',
    more:
      'A slot, which runs one model under a fixed name, loads only if its model fits into the free memory of a pool. ' +
      'Idle slots are unloaded to make room.',
  },
  upstream: {
    question: 'What is an upstream?',
    short: 'An upstream is another server that runs models for this gateway.',
    more:
      'It can be a machine in your network or an external provider with an OpenAI-compatible API. ' +
      'Its models appear in your model list, and requests for them are forwarded to it.',
  },
  tier: {
    question: 'What is a tier?',
    short: 'The tier of a request is the access that its key gives.',
    more:
      'Requests without a key are anonymous. The client key gives apps access to the models. ' +
      'The admin key also changes settings; a browser that is logged in counts as admin.',
  },
  exposure: {
    question: 'What is exposure?',
    short: 'Exposure describes which API routes can be reached, from where and with which key.',
    more:
      'Each route has a class: open routes need no key, client routes need the client or admin key, ' +
      'admin routes need the admin key, and bootstrap routes are open only until the first admin key exists. ' +
      'Keys are checked once they are required.',
  },
} satisfies Record<string, Term>;
