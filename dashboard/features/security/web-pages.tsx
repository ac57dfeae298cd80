import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactElement, useState } from 'react';
import { Link } from 'wouter';
import type { ExposureView } from '../../../daemon/contract/auth.ts';
import type { SettingRow } from '../../../daemon/contract/system.ts';
import { useAction } from '../../api/action.ts';
import { call, ifMatch } from '../../api/client.ts';
import { keyOf, queries } from '../../api/queries.ts';
import type { Responses } from '../../api/responses.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { count } from '../../ui/format.ts';
import { Ago } from '../../ui/relative-time.tsx';
import css from './security.module.css';

/** Refusals emit no event. */
const POLL_MS = 15_000;

type Refused = ExposureView['refused_origins'][number];

const allowedBy = (row: SettingRow | undefined): string[] =>
  Array.isArray(row?.value) ? row.value.filter((entry) => typeof entry === 'string') : [];

function useAllow(settings: Responses['settings'], onDone: () => void) {
  const client = useQueryClient();
  return useAction({
    send: (origin: string) => {
      const row = settings.settings.find(({ name }) => name === 'allowedOrigins');
      return call('settings.put', {
        headers: ifMatch(settings.revision),
        body: { values: { allowedOrigins: [...allowedBy(row), origin] } },
      });
    },
    onSuccess: (answer) => {
      client.setQueryData<Responses['settings']>(keyOf('settings'), answer);
      for (const id of ['auth.exposure', 'audit'] as const)
        void client.invalidateQueries({ queryKey: keyOf(id) });
    },
    onError: () => void client.invalidateQueries({ queryKey: keyOf('settings') }),
    onDone,
  });
}

function Allow(props: { origin: string; settings: Responses['settings'] }): ReactElement {
  const { origin } = props;
  const [isOpen, setIsOpen] = useState(false);
  const allow = useAllow(props.settings, () => setIsOpen(false));
  return (
    <>
      <Button
        onClick={() => {
          allow.reset();
          setIsOpen(true);
        }}
      >
        Allow…<span className="hidden-visually"> {origin}</span>
      </Button>
      <Confirm
        open={isOpen}
        title={`Allow pages of ${origin}?`}
        action="Allow pages"
        busy={allow.isPending}
        error={allow.error}
        onConfirm={() => allow.mutate(origin)}
        onClose={() => setIsOpen(false)}
      >
        <p>
          Every page of this origin can then call the gateway from a browser on your network. It needs a key
          where other programs need one. The origin is added to <code>security.allowed_origins</code>.
        </p>
      </Confirm>
    </>
  );
}

function RefusedOrigin(props: {
  refused: Refused;
  settings: Responses['settings'] | undefined;
}): ReactElement {
  const { origin, count: times, last_at: at } = props.refused;
  const row = props.settings?.settings.find(({ name }) => name === 'allowedOrigins');
  return (
    <li>
      <div>
        <p className={css.strong}>{origin}</p>
        <p className={css.soft}>
          Refused {times === 1 ? 'once' : `${count(times)} times`}, last <Ago at={at} />
          {row?.source === 'env' ? (
            <>
              . <code>{row.env}</code> is set by the environment; add this origin to it.
            </>
          ) : null}
        </p>
      </div>
      {props.settings === undefined || row?.source === 'env' ? null : (
        <Allow origin={origin} settings={props.settings} />
      )}
    </li>
  );
}

/** Web pages that may call the gateway, and those that were refused. Nothing while there are none. */
export function WebPages(): ReactElement | null {
  const exposure = useQuery({ ...queries.exposure, refetchInterval: POLL_MS });
  const settings = useQuery(queries.settings);
  const refused = exposure.data?.refused_origins ?? [];
  const allowed = allowedBy(settings.data?.settings.find(({ name }) => name === 'allowedOrigins'));
  if (refused.length === 0 && allowed.length === 0) return null;
  return (
    <Card title="Web pages of other origins">
      {refused.length === 0 ? null : (
        <>
          <p>
            The browser hid these refusals from their pages, which show a network or CORS error instead. Allow
            an origin only if you know the page.
          </p>
          <ul className={css.origins} aria-label="Refused web pages">
            {refused.map((each) => (
              <RefusedOrigin key={each.origin} refused={each} settings={settings.data} />
            ))}
          </ul>
        </>
      )}
      {allowed.length === 0 ? null : (
        <p>
          Allowed: {allowed.join(', ')}. <Link href="/settings?edit=allowedOrigins">Change</Link>
        </p>
      )}
    </Card>
  );
}
