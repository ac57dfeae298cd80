import type { ComponentType, ReactElement } from 'react';
import { NotFound } from '../../app/not-found.tsx';
import { useTitle } from '../../app/title.ts';
import { SETTINGS_TABS } from '../../app/views.ts';
import { ViewHead } from '../../ui/view-head.tsx';
import { ViewTabs } from '../../ui/view-tabs.tsx';
import { AllSettings } from './all-settings.tsx';
import { GatewayLog } from './gateway-log.tsx';

const TABS: Readonly<Record<string, ComponentType>> = { all: AllSettings, logs: GatewayLog };

/** The settings view: settings and gateway log. */
export function Settings(props: { tab: string }): ReactElement {
  const tab = SETTINGS_TABS.find(({ id }) => id === props.tab);
  useTitle(tab?.word ?? 'Not found');
  const Tab = TABS[props.tab];
  if (tab === undefined || Tab === undefined) return <NotFound />;
  return (
    <>
      <ViewHead title="Settings" />
      <ViewTabs base="/settings" label="Settings" tabs={SETTINGS_TABS} current={tab.id} />
      <Tab />
    </>
  );
}
