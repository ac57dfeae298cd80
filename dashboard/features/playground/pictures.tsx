import { ImagePlus, X } from 'lucide-react';
import { type ReactElement, useRef } from 'react';
import { Button } from '../../ui/button.tsx';
import field from '../../ui/field.module.css';
import { MOST_PICTURES, pictureAddress, withKeys } from './picture-file.ts';
import css from './pictures.module.css';
import { conversation } from './store.ts';

/** Adds pictures to the message that is being written; says why where it cannot. */
export async function attach(files: Iterable<File>): Promise<string | null> {
  for (const file of files) {
    if (conversation.get().pictures.length >= MOST_PICTURES)
      return `A message takes ${MOST_PICTURES} pictures at most.`;
    try {
      conversation.addPicture(await pictureAddress(file));
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }
  return null;
}

/** The button that adds pictures, and the fault of the last try, whichever way they came. */
export function AttachButton(props: {
  fault: string | null;
  onFiles: (files: readonly File[]) => void;
}): ReactElement {
  const { fault } = props;
  const input = useRef<HTMLInputElement>(null);
  return (
    <span className={css.attach}>
      <input
        ref={input}
        type="file"
        accept="image/*"
        multiple
        hidden
        aria-label="Picture file"
        onChange={(event) => {
          const files = [...(event.target.files ?? [])];
          event.target.value = '';
          props.onFiles(files);
        }}
      />
      <Button look="quiet" square aria-label="Add a picture" onClick={() => input.current?.click()}>
        <ImagePlus size={16} aria-hidden="true" />
      </Button>
      {fault === null ? null : (
        <span className={field.error} role="alert">
          {fault}
        </span>
      )}
    </span>
  );
}

/** The pictures of the message that is being written, each with a way to take it back. */
export function DraftPictures(props: { pictures: readonly string[] }): ReactElement | null {
  if (props.pictures.length === 0) return null;
  return (
    <ul className={css.row} aria-label="Pictures of the message">
      {withKeys(props.pictures).map(({ key, address }, at) => (
        <li key={key} className={css.draft}>
          <img src={address} alt={`${at + 1} of ${props.pictures.length}`} />
          <Button
            square
            aria-label={`Take picture ${at + 1} back`}
            onClick={() => conversation.dropPicture(at)}
          >
            <X size={14} aria-hidden="true" />
          </Button>
        </li>
      ))}
    </ul>
  );
}

/** The pictures of a message that was sent. */
export function SentPictures(props: { pictures: readonly string[]; gone: number }): ReactElement | null {
  const { pictures, gone } = props;
  if (gone > 0)
    return (
      <p className={css.gone}>{`${gone} ${gone === 1 ? 'picture' : 'pictures'}, not kept over the reload`}</p>
    );
  if (pictures.length === 0) return null;
  return (
    <div className={css.row}>
      {withKeys(pictures).map(({ key, address }, at) => (
        <img key={key} src={address} alt={`Sent, ${at + 1} of ${pictures.length}`} />
      ))}
    </div>
  );
}
