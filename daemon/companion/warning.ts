import type { CompanionPlan } from './companion-env.ts';

export interface CompanionWarningInput {
  readonly plan: Pick<CompanionPlan, 'isLoopback' | 'signIn' | 'trustsHeader'>;
  readonly enforced: boolean;
  readonly hasClientKey: boolean;
}

interface Rule {
  readonly when: (picture: CompanionWarningInput) => boolean;
  readonly message: string;
}

/** In the order of weight; the first that holds is told. Nothing in them is secret or an address. */
const RULES: readonly Rule[] = [
  {
    when: ({ plan }) => plan.trustsHeader && !plan.isLoopback,
    message:
      'The companion chat UI believes a header that names its visitor, and the network reaches its port: anybody can sign in as anybody. Set SVC_OWUI_BIND_HOST=127.0.0.1 in companion.env, with the proxy on this machine.',
  },
  {
    when: ({ plan }) => !plan.signIn && !plan.isLoopback,
    message:
      'The companion chat UI has no sign-in and the network reaches it: anyone can use the models and read stored conversations. Set WEBUI_AUTH=True in companion.env.',
  },
  {
    when: ({ enforced, hasClientKey }) => enforced && !hasClientKey,
    message:
      'The companion chat UI is refused: keys are required and there is no client key. Run svcctl auth rotate client, then restart svc-companion.',
  },
  {
    when: ({ plan }) => plan.trustsHeader && !plan.signIn,
    message:
      'The companion chat UI has a header for sign-in, and sign-in is off. Set WEBUI_AUTH=True in companion.env.',
  },
];

/** What is wrong with the chat UI beside the gateway, in words that anyone may read; null when nothing is. */
export const companionWarning = (picture: CompanionWarningInput): string | null =>
  RULES.find(({ when }) => when(picture))?.message ?? null;
