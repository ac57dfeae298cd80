import type { ReactElement, ReactNode } from 'react';
import { useSession } from '../../../api/session.tsx';
import type { Language } from '../../../api/snippets.ts';
import { Card } from '../../../ui/card.tsx';
import { Loaded } from '../../../ui/loaded.tsx';
import { CodeTabs } from './code-tabs.tsx';
import css from './mode-page.module.css';
import { ModelPicker } from './model-picker.tsx';
import { ABILITIES, type Ability } from './models.ts';
import { NoModel } from './no-model.tsx';
import type { ModeModels } from './use-models.ts';

/** Base URL and key requirement for code samples. */
export interface CodePlace {
  readonly base: string;
  readonly key: boolean;
}

/** The layout of a mode: model picker, form and result, and the request as code. */
export function ModePage(props: {
  ability: Ability;
  models: ModeModels;
  onModel: (id: string) => void;
  /** One sentence that introduces the mode. */
  about: ReactNode;
  codeOf: (language: Language, place: CodePlace) => string;
  children: ReactNode;
}): ReactElement {
  const { ability, models } = props;
  const { status } = useSession();
  const place = { base: location.origin, key: status?.auth_required === true };
  return (
    <div className={css.page}>
      <div className={css.main}>
        <div className={css.head}>
          <p className={css.about}>{props.about}</p>
          <ModelPicker
            groups={models.groups}
            model={models.model}
            unavailable={models.unavailable}
            loading={models.query.isPending}
            none={`No ${ABILITIES[ability].kind} model`}
            onChoose={props.onModel}
          />
        </div>
        <Loaded query={models.query} what="the models" lines={6}>
          {() => (models.groups.length === 0 ? <NoModel ability={ability} /> : props.children)}
        </Loaded>
      </div>
      <aside className={css.side} aria-label="The request as code">
        <Card title="Code">
          <CodeTabs textOf={(language) => props.codeOf(language, place)} />
        </Card>
      </aside>
    </div>
  );
}
