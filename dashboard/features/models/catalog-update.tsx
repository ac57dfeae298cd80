import { type ReactElement, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import dialog from '../../ui/dialog.module.css';
import { Failure } from '../../ui/failure.tsx';
import field from '../../ui/field.module.css';
import { TextInput } from '../../ui/inputs.tsx';
import { Sheet } from '../../ui/sheet.tsx';
import css from './models.module.css';
import { useModelAction } from './use-model-action.ts';

const SHA256 = /^[0-9a-fA-F]{64}$/;

/** Loads a newer catalogue from an address or a file; nothing is loaded without the SHA-256 of its publisher. */
export function CatalogUpdate(props: { asOf: string; updated: boolean; onClose: () => void }): ReactElement {
  const { asOf, updated, onClose } = props;
  const [url, setUrl] = useState('');
  const [file, setFile] = useState<File | null>(null);
  const [sum, setSum] = useState('');
  const update = useModelAction('catalog.update', onClose);
  const reset = useModelAction('catalog.reset', onClose);
  const error = update.error ?? reset.error;
  const isComplete = SHA256.test(sum.trim()) && (file !== null || url.trim() !== '');
  const send = async (): Promise<void> => {
    const source = file === null ? { url: url.trim() } : { text: await file.text() };
    update.mutate({ body: { ...source, sha256: sum.trim() } });
  };
  return (
    <Sheet title="Load a newer catalogue" onClose={onClose}>
      <div className={css.part}>
        <p>
          The catalogue of {asOf} is in use{updated ? ', which you loaded' : ''}. The gateway never searches
          for a newer one. Load one that you trust, with the SHA-256 that its publisher gives.
        </p>
        <TextInput
          label="Address"
          help="Read by the gateway, not by this browser."
          exact
          placeholder="https://example.com/catalog.json"
          value={url}
          onChange={setUrl}
        />
        <label className={field.field}>
          <span className={field.label}>Or a file</span>
          <input
            type="file"
            accept=".json,application/json"
            className={field.input}
            onChange={(event) => setFile(event.target.files?.[0] ?? null)}
          />
        </label>
        <TextInput
          label="SHA-256"
          exact
          placeholder="64 hexadecimal digits"
          value={sum}
          error={sum === '' || SHA256.test(sum.trim()) ? undefined : 'Must be 64 hexadecimal digits.'}
          onChange={setSum}
        />
        {error === null ? null : <Failure error={error} />}
        <div className={dialog.actions}>
          {updated ? (
            <Button busy={reset.isPending} onClick={() => reset.mutate({})}>
              Restore the built-in catalogue
            </Button>
          ) : null}
          <Button onClick={onClose}>Cancel</Button>
          <Button variant="main" busy={update.isPending} disabled={!isComplete} onClick={() => void send()}>
            Load catalogue
          </Button>
        </div>
      </div>
    </Sheet>
  );
}
