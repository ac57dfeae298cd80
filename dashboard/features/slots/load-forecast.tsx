import type { ReactElement } from 'react';
import type { SlotPlanView } from '../../../daemon/contract/slots.ts';
import { Forecast } from '../shared/forecast.tsx';

/** The memory sum of a load, or the loaded engine that the slot would use. */
export function LoadForecast({ plan }: { plan: SlotPlanView }): ReactElement {
  const { shares_engine_of: slot, forecast } = plan;
  if (slot === undefined) return <Forecast forecast={forecast} />;
  return (
    <p>Uses the engine of slot {slot}, which has the same model and settings. Nothing has to be loaded.</p>
  );
}
