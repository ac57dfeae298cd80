import type { ComponentType, ReactElement } from 'react';
import { NotFound } from '../../app/not-found.tsx';
import { useTitle } from '../../app/title.ts';
import { REQUEST_TABS } from '../../app/views.ts';
import { ViewHead } from '../../ui/view-head.tsx';
import { ViewTabs } from '../../ui/view-tabs.tsx';
import { Explain } from './explain.tsx';
import { RequestLog } from './log.tsx';
import { Usage } from './usage.tsx';

const TABS: Readonly<Record<string, ComponentType>> = { log: RequestLog, usage: Usage, explain: Explain };

/** The view of requests, usage and routing. */
export function Requests(props: { tab: string }): ReactElement {
  const tab = REQUEST_TABS.find(({ id }) => id === props.tab);
  useTitle(tab?.word ?? 'Not found');
  const Tab = TABS[props.tab];
  if (tab === undefined || Tab === undefined) return <NotFound />;
  return (
    <>
      <ViewHead title="Requests" />
      <ViewTabs base="/requests" label="Requests" tabs={REQUEST_TABS} current={tab.id} />
      <Tab />
    </>
  );
}
