import type { ReactElement } from 'react';
import type { DeviceRecord, EvidenceRecord } from '../../../daemon/contract/hardware.ts';
import { Card } from '../../ui/card.tsx';
import { byteSize } from '../../ui/format.ts';
import { Note } from '../../ui/note.tsx';
import { Facts } from '../../ui/property-list.tsx';
import { State } from '../../ui/state-badge.tsx';
import type { Tone } from '../../ui/tone.ts';
import { Evidence } from './evidence.tsx';
import css from './hardware.module.css';
import { type HardwareHistory, type Measure, READ } from './history.ts';
import { MEASURES_BY_NAME, MeasureChart } from './measure.tsx';

const KINDS = { cpu: 'CPU', gpu: 'GPU', npu: 'NPU' } as const;
const ACCESS: Record<DeviceRecord['access'], { tone: Tone; word: string }> = {
  ok: { tone: 'ok', word: 'Available' },
  no_driver: { tone: 'attention', word: 'No driver' },
  no_permission: { tone: 'attention', word: 'No permission' },
  unknown: { tone: 'idle', word: 'Access unknown' },
};
const MEASURES = Object.keys(MEASURES_BY_NAME) as Measure[];

/** Whether the device has ever reported a measure; it then has a chart. */
function isReported(device: DeviceRecord, history: HardwareHistory, measure: Measure): boolean {
  return (
    READ[measure](device) !== null ||
    history.series(device.id, measure).values.some((value) => value !== null)
  );
}

/** One device with its access state and live measures. */
export function Device(props: {
  device: DeviceRecord;
  evidence: EvidenceRecord | undefined;
  history: HardwareHistory;
}): ReactElement {
  const { device, history } = props;
  const badge = device.unused_reason !== null && device.access === 'ok' ? null : ACCESS[device.access];
  const shown = MEASURES.filter((measure) => isReported(device, history, measure));
  const silent = MEASURES.filter((measure) => !shown.includes(measure));
  return (
    <Card
      title={device.name}
      aside={
        badge === null ? (
          <State tone="attention">Not used</State>
        ) : (
          <State tone={badge.tone}>{badge.word}</State>
        )
      }
    >
      {device.unused_reason === null ? null : (
        <Note tone="attention">
          <p>Not used: {device.unused_reason}</p>
        </Note>
      )}
      <Facts
        wide
        rows={[
          ['Kind', KINDS[device.kind]],
          ['ID', device.id],
          ['Vendor', device.vendor],
          ['Driver', device.driver],
          ['Memory', device.memory_total_bytes === null ? null : byteSize(device.memory_total_bytes)],
          ['Memory pool', device.pool],
        ]}
      />
      {shown.length === 0 ? null : (
        <div className={css.measures}>
          {shown.map((measure) => (
            <MeasureChart key={measure} device={device} measure={measure} history={history} />
          ))}
        </div>
      )}
      {silent.length === 0 ? null : (
        <p className={css.soft}>
          Not reported: {silent.map((measure) => MEASURES_BY_NAME[measure].word.toLowerCase()).join(', ')}.
        </p>
      )}
      <Evidence evidence={props.evidence} />
    </Card>
  );
}
