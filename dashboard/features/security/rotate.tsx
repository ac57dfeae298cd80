import { Radio } from '@base-ui/react/radio';
import { RadioGroup } from '@base-ui/react/radio-group';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactElement, useId, useState } from 'react';
import { useSearchParams } from 'wouter';
import type { RotateView } from '../../../daemon/contract/auth.ts';
import { useAction } from '../../api/action.ts';
import { call } from '../../api/client.ts';
import { keyOf, queries } from '../../api/queries.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { RotateResult } from './rotate-result.tsx';
import css from './security.module.css';

type KeyTier = RotateView['tier'];

const TIERS: Record<KeyTier, { word: string; consequence: string }> = {
  admin: {
    word: 'Admin key',
    consequence:
      'The current admin key stops working immediately for scripts and the command line. Browsers stay logged in; the next login needs the new key.',
  },
  client: {
    word: 'Client key',
    consequence:
      'Apps with the current client key stop working immediately while keys are required, until they get the new one. The companion chat UI must be restarted.',
  },
};

function TierChoice(props: { tier: KeyTier; onChoose: (tier: KeyTier) => void }): ReactElement {
  const id = useId();
  return (
    <RadioGroup
      aria-label="Which key"
      className={css.tiers}
      value={props.tier}
      onValueChange={(tier: KeyTier) => props.onChoose(tier)}
    >
      {(Object.keys(TIERS) as KeyTier[]).map((tier) => (
        <label key={tier} className={css.tier} htmlFor={`${id}-${tier}`}>
          <Radio.Root
            id={`${id}-${tier}`}
            className={css.radio}
            value={tier}
            aria-describedby={`${id}-${tier}-text`}
            aria-label={TIERS[tier].word}
          >
            <Radio.Indicator className={css.dot} />
          </Radio.Root>
          <span className={css.strong}>{TIERS[tier].word}</span>
          <span id={`${id}-${tier}-text`} className={css.soft}>
            {TIERS[tier].consequence}
          </span>
        </label>
      ))}
    </RadioGroup>
  );
}

function useRotate(onDone: () => void) {
  const client = useQueryClient();
  return useAction({
    send: (tier: KeyTier) => call('auth.rotate', { body: { tier } }),
    onSuccess: () => {
      for (const id of ['auth.status', 'status'] as const) {
        void client.invalidateQueries({ queryKey: keyOf(id) });
      }
    },
    onDone,
  });
}

/** Rotates a key: choose, confirm the effect, then see facts about the new key. */
export function Rotate(): ReactElement {
  const [search, setSearch] = useSearchParams();
  const tier: KeyTier = search.get('tier') === 'client' ? 'client' : 'admin';
  const { data: status } = useQuery(queries.status);
  const [isOpen, setIsOpen] = useState(false);
  const rotate = useRotate(() => setIsOpen(false));
  const name = TIERS[tier].word.toLowerCase();
  const first = status !== undefined && !(tier === 'admin' ? status.has_admin_key : status.has_client_key);
  return (
    <>
      <Card title="Key rotation">
        <TierChoice tier={tier} onChoose={(next) => setSearch({ tier: next }, { replace: true })} />
        <p>
          The new key is created on the gateway and written to <code>api.env</code>. It is never shown here.
        </p>
        <div>
          <Button
            variant="main"
            onClick={() => {
              rotate.reset();
              setIsOpen(true);
            }}
          >
            {first ? `Create the ${name}…` : `Rotate the ${name}…`}
          </Button>
        </div>
      </Card>
      {rotate.data === undefined ? null : <RotateResult result={rotate.data} />}
      <Confirm
        open={isOpen}
        title={first ? `Create the ${name}?` : `Rotate the ${name}?`}
        action={first ? `Create the ${name}` : `Rotate the ${name}`}
        danger={!first}
        busy={rotate.isPending}
        error={rotate.error}
        onConfirm={() => rotate.mutate(tier)}
        onClose={() => setIsOpen(false)}
      >
        <p>{first ? 'No key exists yet, so nothing breaks.' : TIERS[tier].consequence}</p>
      </Confirm>
    </>
  );
}
