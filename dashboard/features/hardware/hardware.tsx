import { useQuery, useQueryClient } from '@tanstack/react-query';
import { RefreshCw } from 'lucide-react';
import type { ReactElement } from 'react';
import type { DiskRecord, HardwareView, NetworkRecord } from '../../../daemon/contract/hardware.ts';
import { useAction } from '../../api/action.ts';
import { call } from '../../api/client.ts';
import { queries } from '../../api/queries.ts';
import { useTitle } from '../../app/title.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import columns from '../../ui/columns.module.css';
import { Failure } from '../../ui/failure.tsx';
import { byteSize } from '../../ui/format.ts';
import { Loaded } from '../../ui/loaded.tsx';
import { Facts } from '../../ui/property-list.tsx';
import { Ago } from '../../ui/relative-time.tsx';
import { ViewHead } from '../../ui/view-head.tsx';
import { Device } from './device.tsx';
import { Evidence } from './evidence.tsx';
import { Containers, Problems } from './findings.tsx';
import css from './hardware.module.css';
import { Pools } from './pools-card.tsx';
import { useHistory } from './use-history.ts';

/** The gateway throttles live readings to this interval. */
const LIVE_MS = 5000;
const PROBE_LIMIT_MS = 60_000;

const diskRow = ({ mount, type, total_bytes, available_bytes }: DiskRecord) =>
  [
    `Disk ${mount}`,
    [byteSize(total_bytes), available_bytes === null ? null : `${byteSize(available_bytes)} available`, type]
      .filter((part) => part !== null)
      .join(', '),
  ] as const;

const networkRow = (network: NetworkRecord) =>
  [
    `Network ${network.name}`,
    [
      network.ipv4 ?? network.ipv6,
      network.kind,
      network.speed_mbit === null ? null : `${network.speed_mbit} Mbit/s`,
      network.default ? 'default route' : null,
    ]
      .filter((part) => part !== null)
      .join(', '),
  ] as const;

function Host(props: { hardware: HardwareView }): ReactElement {
  const { host } = props.hardware;
  return (
    <Card title="This machine">
      <Facts
        rows={[
          ['CPU', host.cpu],
          ['Cores', `${host.cores_physical} (${host.cores_logical} threads)`],
          ['RAM', `${byteSize(host.memory_total_bytes)}, ${byteSize(host.memory_available_bytes)} available`],
          [
            'Swap',
            host.swap_total_bytes
              ? `${byteSize(host.swap_total_bytes)}, ${byteSize(host.swap_used_bytes ?? 0)} used`
              : null,
          ],
          ['System', host.os],
          ...(host.disks ?? []).map(diskRow),
          ...(host.networks ?? []).map(networkRow),
        ]}
      />
      <Evidence evidence={evidenceFor(props.hardware, 'host')} />
    </Card>
  );
}

const evidenceFor = ({ evidence }: HardwareView, of: string) => evidence.find((each) => each.of === of);

function Whole(props: { hardware: HardwareView }): ReactElement {
  const { hardware } = props;
  const slots = useQuery(queries.slots);
  const history = useHistory();
  return (
    <div className={columns.unevenLonger}>
      <div className={columns.column}>
        {hardware.devices.map((device) => (
          <Device
            key={device.id}
            device={device}
            evidence={evidenceFor(hardware, device.id)}
            history={history}
          />
        ))}
      </div>
      <div className={columns.column}>
        <Pools hardware={hardware} slots={slots.data?.slots ?? []} />
        <Host hardware={hardware} />
        <Containers hardware={hardware} />
        <Problems hardware={hardware} />
      </div>
    </div>
  );
}

/** The hardware view: devices, memory pools and failed checks. */
export function Hardware(): ReactElement {
  useTitle('Hardware');
  const client = useQueryClient();
  useHistory();
  const hardware = useQuery({ ...queries.hardware, refetchInterval: LIVE_MS });
  const probe = useAction({
    send: () => call('hardware.probe', {}, PROBE_LIMIT_MS),
    onSuccess: (view) => client.setQueryData(queries.hardware.queryKey, view),
  });
  return (
    <>
      <ViewHead title="Hardware">
        {hardware.data === undefined ? null : (
          <span className={css.probed}>
            Last scan <Ago at={hardware.data.probed_at} />
          </span>
        )}
        <Button busy={probe.isPending} onClick={() => probe.mutate()}>
          <RefreshCw size={16} aria-hidden="true" /> {probe.isPending ? 'Scanning…' : 'Rescan'}
        </Button>
      </ViewHead>
      {probe.error === null ? null : <Failure error={probe.error} />}
      <Loaded query={hardware} what="the hardware" lines={8}>
        {(data) => <Whole hardware={data} />}
      </Loaded>
    </>
  );
}
