import { useQuery } from '@tanstack/react-query';
import { MessageSquarePlus, SlidersHorizontal } from 'lucide-react';
import { type ReactElement, useState } from 'react';
import { queries } from '../../api/queries.ts';
import { Button } from '../../ui/button.tsx';
import { Failure } from '../../ui/failure.tsx';
import { useWide } from '../../ui/use-min-width.ts';
import css from './chat.module.css';
import { Composer } from './composer.tsx';
import { DemoNote } from './parts/demo-note.tsx';
import { ModelPicker } from './parts/model-picker.tsx';
import { chosenModel, modelsWith, unavailableMessage } from './parts/models.ts';
import { SidePanel, SidePanelDialog } from './side-panel.tsx';
import { conversation, useConversation } from './store.ts';
import { Turns } from './turns.tsx';

/** Chat with a model of the gateway. */
export function Chat(): ReactElement {
  const wide = useWide(1080);
  const [panel, setPanel] = useState(false);
  const models = useQuery(queries.models);
  const { turns, model: chosen } = useConversation();
  const groups = modelsWith('chat', models.data?.data ?? []);
  const { model, unavailable } = chosenModel(groups, chosen, 'agent');
  return (
    <div className={css.page}>
      <div className={css.chat}>
        <header className={css.head}>
          <ModelPicker
            groups={groups}
            model={model}
            unavailable={unavailable}
            loading={models.isPending}
            none="No chat model"
            onChoose={(id) => conversation.setModel(id)}
          />
          <div className={css.tools}>
            <Button
              variant="quiet"
              disabled={turns.length === 0}
              aria-label="New conversation"
              onClick={() => conversation.clear()}
            >
              <MessageSquarePlus size={16} aria-hidden="true" />
              <span className={css.word}>New</span>
            </Button>
            {wide ? null : (
              <Button
                variant="quiet"
                square
                aria-label="Parameters and code"
                aria-haspopup="dialog"
                onClick={() => setPanel(true)}
              >
                <SlidersHorizontal size={16} aria-hidden="true" />
              </Button>
            )}
          </div>
        </header>
        {models.isError && models.data === undefined ? (
          <Failure error={models.error} retry={() => void models.refetch()} />
        ) : null}
        <DemoNote model={model} />
        <Turns model={model?.id ?? null} none={models.isSuccess && groups.length === 0} />
        <Composer
          model={model?.id ?? null}
          lacks={unavailable === null ? null : unavailableMessage(unavailable)}
          sees={model?.architecture.input_modalities.includes('image') === true}
        />
      </div>
      {wide ? <SidePanel model={model?.id ?? unavailable} /> : null}
      <SidePanelDialog
        open={panel && !wide}
        onClose={() => setPanel(false)}
        model={model?.id ?? unavailable}
      />
    </div>
  );
}
