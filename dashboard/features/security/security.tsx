import type { ComponentType, ReactElement } from 'react';
import { Link } from 'wouter';
import { NotFound } from '../../app/not-found.tsx';
import { useTitle } from '../../app/title.ts';
import { SECURITY_TABS } from '../../app/views.ts';
import { useCurrentInView } from '../../ui/current-in-view.ts';
import tabs from '../../ui/tabs.module.css';
import { ViewHead } from '../../ui/view-head.tsx';
import { Audit } from './audit.tsx';
import { Exposure } from './exposure.tsx';
import { Posture } from './posture.tsx';
import { Rotate } from './rotate.tsx';
import css from './security.module.css';
import { Sessions } from './sessions.tsx';

const TABS: Record<string, ComponentType> = {
  posture: Posture,
  rotate: Rotate,
  exposure: Exposure,
  sessions: Sessions,
  audit: Audit,
};

/** The security view: access, keys, exposure, sessions and audit trail. */
export function Security(props: { tab: string }): ReactElement {
  useTitle(`Security: ${SECURITY_TABS.find((row) => row.id === props.tab)?.word ?? 'not found'}`);
  const list = useCurrentInView(props.tab);
  const Tab = TABS[props.tab];
  if (Tab === undefined) return <NotFound />;
  return (
    <>
      <ViewHead title="Security" />
      <nav ref={list} className={`${tabs.list} ${tabs.line}`} aria-label="Security">
        {SECURITY_TABS.map((row) => (
          <Link
            key={row.id}
            className={tabs.tab}
            href={`/security/${row.id}`}
            aria-current={row.id === props.tab ? 'page' : undefined}
          >
            {row.word}
          </Link>
        ))}
      </nav>
      <div className={props.tab === 'exposure' || props.tab === 'audit' ? css.wide : css.reading}>
        <Tab />
      </div>
    </>
  );
}
