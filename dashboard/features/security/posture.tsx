import { useQuery } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { Link } from 'wouter';
import type { StatusOverviewView } from '../../../daemon/contract/system.ts';
import { queries } from '../../api/queries.ts';
import { postureOf } from '../../app/posture.ts';
import { Card } from '../../ui/card.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { Badge, State } from '../../ui/state-badge.tsx';
import { EnforcementSwitch } from './enforcement-switch.tsx';
import css from './security.module.css';
import { WebPages } from './web-pages.tsx';

function Key(props: { name: string; set: boolean; use: string; tier: string }): ReactElement {
  return (
    <li>
      <div>
        <p className={css.strong}>{props.name}</p>
        <p className={css.soft}>{props.use}</p>
      </div>
      <State tone={props.set ? 'ok' : 'idle'}>{props.set ? 'Set' : 'Not set'}</State>
      <Link href={`/security/rotate?tier=${props.tier}`}>
        {props.set ? 'Rotate' : 'Create'}
        <span className="hidden-visually"> the {props.tier} key</span>
      </Link>
    </li>
  );
}

function Whole(props: { status: StatusOverviewView }): ReactElement {
  const { status } = props;
  const posture = postureOf(status);
  return (
    <>
      <Card title="Access" aside={<Badge tone={posture.tone}>{posture.word}</Badge>}>
        <p>{posture.sentence}</p>
        <p>
          <Link href="/security/exposure?reach=anonymous">Show routes that need no key</Link>
        </p>
      </Card>
      <Card title="Key requirement">
        <EnforcementSwitch status={status} />
      </Card>
      <Card title="Keys">
        <ul className={css.keys}>
          <Key
            name="Admin key"
            tier="admin"
            set={status.has_admin_key}
            use="Full access; the key to log in with."
          />
          <Key
            name="Client key"
            tier="client"
            set={status.has_client_key}
            use="For apps: access to the models and read-only status."
          />
        </ul>
      </Card>
      <WebPages />
    </>
  );
}

/** Who can use the gateway, the key requirement, and the keys. */
export function Posture(): ReactElement {
  const status = useQuery(queries.status);
  return (
    <Loaded query={status} what="access" lines={5}>
      {(data) => <Whole status={data} />}
    </Loaded>
  );
}
