import type { CompanionPlan } from './companion-env.ts';

export interface CompanionWarningInput {
  readonly plan: Pick<CompanionPlan, 'isLoopback' | 'signIn' | 'trustsHeader'>;
  readonly enforced: boolean;
  readonly hasClientKey: boolean;
}

interface Rule {
  readonly when: (input: CompanionWarningInput) => boolean;
  readonly message: string;
}

/** By severity; the first match is shown. The messages contain no secrets and no addresses. */
const RULES: readonly Rule[] = [
  {
    when: ({ plan }) => plan.trustsHeader && !plan.isLoopback,
    message:
      'The companion chat UI trusts a header that names its user, and its port is reachable from the network: anyone can sign in as anyone. Set SVC_OWUI_BIND_HOST=127.0.0.1 in companion.env, with the proxy on this machine.',
  },
  {
    when: ({ plan }) => !plan.signIn && !plan.isLoopback,
    message:
      'The companion chat UI has no sign-in and is reachable from the network: anyone can use the models and read stored conversations. Set WEBUI_AUTH=True in companion.env.',
  },
  {
    when: ({ enforced, hasClientKey }) => enforced && !hasClientKey,
    message:
      'The companion chat UI has no access: keys are required and no client key is set. Run svcctl auth rotate client, then restart svc-companion.',
  },
  {
    when: ({ plan }) => plan.trustsHeader && !plan.signIn,
    message:
      'The companion chat UI has a sign-in header configured, but sign-in is off. Set WEBUI_AUTH=True in companion.env.',
  },
];

/** Returns the problem of the companion chat UI, in words that every caller may read, or null. */
export const companionWarning = (input: CompanionWarningInput): string | null =>
  RULES.find(({ when }) => when(input))?.message ?? null;
