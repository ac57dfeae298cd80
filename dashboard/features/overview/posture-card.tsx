import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { Link } from 'wouter';
import type { StatusOverviewView } from '../../../daemon/contract/system.ts';
import { postureOf } from '../../app/posture.ts';
import { Card } from '../../ui/card.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { Badge } from '../../ui/state-badge.tsx';

function Sentence(props: { status: StatusOverviewView }): ReactElement {
  const posture = postureOf(props.status);
  return (
    <>
      <p>
        <Badge tone={posture.tone}>{posture.word}</Badge>
      </p>
      <p>{posture.sentence}</p>
    </>
  );
}

/** Who can use the gateway, with a link to change it. */
export function PostureCard(props: { query: UseQueryResult<StatusOverviewView> }): ReactElement {
  return (
    <Card title="Access" aside={<Link href="/security/posture">Change access</Link>}>
      <Loaded query={props.query} what="access" lines={2}>
        {(status) => <Sentence status={status} />}
      </Loaded>
    </Card>
  );
}
