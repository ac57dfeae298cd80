import { type ReactElement, useState } from 'react';
import { Link } from 'wouter';
import type { SetupView } from '../../../daemon/contract/setup.ts';
import { Button, buttonClass } from '../../ui/button.tsx';
import { Failure } from '../../ui/failure.tsx';
import { count, gib } from '../../ui/format.ts';
import { Note } from '../../ui/note.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import { FilePath } from './file-path.tsx';
import { Folders } from './folders.tsx';
import css from './setup.module.css';
import {
  downloadOf,
  isClosed,
  itemFacts,
  leftOutSentences,
  machineSentences,
  PURPOSES,
} from './setup-words.ts';
import { Step } from './step.tsx';
import { useApply, useProbe } from './use-setup.ts';
import { WorkList } from './work-list.tsx';

type Machine = NonNullable<SetupView['hardware']>;
type ModelSet = NonNullable<SetupView['set']>;

function Found(props: { machine: Machine }): ReactElement {
  const probe = useProbe();
  return (
    <>
      <ul className={css.found} aria-label="What was found">
        {machineSentences(props.machine).map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
      <div>
        <Button busy={probe.isPending} onClick={() => probe.mutate()}>
          Look again
        </Button>
      </div>
      {probe.isError ? <Failure error={probe.error} /> : null}
    </>
  );
}

function SetItem(props: {
  item: ModelSet['items'][number];
  machine: Machine;
  on: boolean;
  onChange: (on: boolean) => void;
}): ReactElement {
  const { item } = props;
  return (
    <li>
      <label className={css.item}>
        <input
          type="checkbox"
          checked={props.on}
          onChange={(event) => props.onChange(event.target.checked)}
        />
        <span>
          <span className={css.itemHead}>
            <b>{PURPOSES[item.purpose]}</b>
            <span>{item.name}</span>
          </span>
          <span className={css.soft}>{item.note}</span>
          <span className={css.soft}>{itemFacts(item, props.machine)}</span>
          {item.smaller_window && item.context !== null ? (
            <span className={css.soft}>
              It gets a window of {count(item.context)} tokens, because memory is short.
            </span>
          ) : null}
        </span>
      </label>
    </li>
  );
}

function DiskLine(props: { bytes: number; set: ModelSet }): ReactElement {
  const { disk_free_bytes: free, disk_kept_bytes: kept } = props.set;
  const short = free !== null && props.bytes > free - kept;
  const room = free === null ? '' : ` ${gib(free)} are free on the disk.`;
  return (
    <p>
      {props.bytes === 0 ? 'Nothing has to be fetched.' : `${gib(props.bytes)} to fetch in all.${room}`}
      {short ? ` That is too little: ${gib(kept)} stay free. Leave something out.` : ''}
    </p>
  );
}

function TheSet(props: { set: ModelSet; machine: Machine }): ReactElement {
  const { set, machine } = props;
  const [without, setWithout] = useState<ReadonlySet<string>>(new Set());
  const apply = useApply();
  const chosen = set.items.filter(({ model }) => !without.has(model));
  const toggle = (model: string, on: boolean): void => {
    const next = new Set(without);
    if (on) next.delete(model);
    else next.add(model);
    setWithout(next);
  };
  const begin = (): void =>
    apply.mutate({
      models: chosen.map(({ slot, model }) => ({ slot, model })),
      steps: { models: 'done' },
    });
  return (
    <>
      <fieldset className={css.set}>
        <legend>Recommended for this machine</legend>
        <ul>
          {set.items.map((item) => (
            <SetItem
              key={item.model}
              item={item}
              machine={machine}
              on={!without.has(item.model)}
              onChange={(on) => toggle(item.model, on)}
            />
          ))}
        </ul>
      </fieldset>
      {leftOutSentences(set.left_out).map((sentence) => (
        <p key={sentence} className={css.soft}>
          {sentence}
        </p>
      ))}
      <DiskLine bytes={downloadOf(chosen)} set={set} />
      <p className={css.soft}>
        All of them fit into memory at the same time. Sizes are those of a list of {set.as_of}; the hub tells
        the exact ones. Whoever fetches a model accepts its licence, which stands on its page of the hub.
      </p>
      {apply.isError ? <Failure error={apply.error} /> : null}
      <div>
        <Button look="main" busy={apply.isPending} disabled={chosen.length === 0} onClick={begin}>
          {chosen.length === 1 ? 'Fetch and load this model' : `Fetch and load these ${chosen.length} models`}
        </Button>
      </div>
    </>
  );
}

function Empty(props: { set: ModelSet }): ReactElement {
  return (
    <Note tone="idle">
      {props.set.left_out.length === 0 ? (
        <p>Every purpose has its model.</p>
      ) : (
        leftOutSentences(props.set.left_out).map((sentence) => <p key={sentence}>{sentence}</p>)
      )}
    </Note>
  );
}

const isOffline = ({ error }: SetupView['work'][number]): boolean => error?.code === 'pull.hub_unreachable';

function Offline(props: { demo: boolean }): ReactElement {
  return (
    <Note tone="attention">
      <p>
        This machine does not reach the model hub, so nothing can be fetched now. Everything else goes on
        without it: name a model file that you have copied here
        {props.demo ? ', or try the demonstration model, which is built in.' : '.'} Behind a mirror, set{' '}
        <code>HF_ENDPOINT</code> in <code>api.env</code>.
      </p>
      {props.demo ? (
        <p>
          <Link className={buttonClass()} href="/playground">
            Try the demonstration model
          </Link>
        </p>
      ) : null}
    </Note>
  );
}

/** Which models: what the machine has, what fits it, and what other programs have fetched before. */
export function ModelsStep(props: { view: SetupView; number: number }): ReactElement {
  const { view } = props;
  const state = view.steps.find(({ id }) => id === 'models')?.state ?? 'open';
  return (
    <Step
      id="models"
      number={props.number}
      title="Models for this machine"
      state={state}
      underWay={view.work.some(({ phase }) => phase !== 'ready' && phase !== 'failed')}
      summary={
        view.work.length === 0 ? undefined : (
          <>
            {view.work.some(isOffline) ? <Offline demo={!view.real_model && !isClosed(view)} /> : null}
            <WorkList work={view.work} />
          </>
        )
      }
    >
      {view.hardware === null || view.set === null ? (
        <Skeleton lines={4} what="what this machine has" />
      ) : (
        <>
          <Found machine={view.hardware} />
          {view.set.items.length === 0 ? (
            <Empty set={view.set} />
          ) : (
            <TheSet set={view.set} machine={view.hardware} />
          )}
        </>
      )}
      <Folders view={view} />
      {isClosed(view) ? null : <FilePath />}
    </Step>
  );
}
