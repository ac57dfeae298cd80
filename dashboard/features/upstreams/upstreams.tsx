import { useQuery } from '@tanstack/react-query';
import { Plus, Waypoints } from 'lucide-react';
import type { ReactElement } from 'react';
import { queries } from '../../api/queries.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { useUpstreamPlace } from './place.ts';
import { UpstreamDialog } from './upstream-dialog.tsx';
import { UpstreamItem } from './upstream-item.tsx';

/** Other servers that serve models: their health, and the means to change them. */
export function Upstreams(): ReactElement {
  const upstreams = useQuery(queries.upstreams);
  const { show, name, open, close } = useUpstreamPlace();
  const add = (
    <Button onClick={() => open('new')}>
      <Plus size={16} aria-hidden="true" /> New upstream
    </Button>
  );
  return (
    <>
      <Card title="Upstreams" flush aside={add}>
        <Loaded query={upstreams} what="upstreams" lines={5}>
          {(data) =>
            data.upstreams.length === 0 ? (
              <Empty icon={Waypoints} title="No upstream yet">
                <p>
                  Another server that speaks the OpenAI API, here or at a provider: its models stand in this
                  gateway’s list, and calls go on to it.
                </p>
              </Empty>
            ) : (
              <ul>
                {data.upstreams.map((upstream) => (
                  <UpstreamItem key={upstream.name} upstream={upstream} open={open} />
                ))}
              </ul>
            )
          }
        </Loaded>
      </Card>
      {show === null ? null : (
        <UpstreamDialog show={show} name={name} upstreams={upstreams.data?.upstreams} onClose={close} />
      )}
    </>
  );
}
