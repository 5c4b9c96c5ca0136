"""The notebooks that a command opens or runs, and how they name a dataset."""

from pathlib import Path


def own_notebooks() -> Path:
    """Return the folder of the notebooks to open, and to write beside; say where it is if it has just been made."""
    from privnb.reporting import notebooks

    folder, made = notebooks.own_notebooks()
    if made:
        print(f"privnb: the package's notebooks are copied to {folder}, where you can change them.")
    return folder


def named_dataset(name: str, notebooks: Path) -> str:
    """Return what names the dataset in the notebooks' folder as `name` does here. Refuse one that does not load."""
    from privnb.datasets.dataset import find, load

    load(name)
    path = find(name).resolve()
    return name if path == notebooks.parent / "data" / name / f"{name}.toml" else str(path)
