"""The look of the pages of `make ask`: the report's colours and type, light or dark as the system says or a button."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # seconds to import
    import gradio

FONTS = ["system-ui", "-apple-system", "Segoe UI", "Roboto", "Helvetica Neue", "Arial", "sans-serif"]  # the report's
_TURN = """() => {
  document.body.classList.toggle("dark");
  document.body.style.background = "var(--body-background-fill)";  // gradio has set it to a colour
  return [];
}"""


def theme() -> "gradio.themes.Base":
    """Gradio's own theme with the report's colours; nothing is loaded from elsewhere."""
    import gradio

    from trivium.page.asking import colours

    return gradio.themes.Default(text_size="lg", font=FONTS, font_mono=["monospace"]).set(**colours())


def heading(title: str, text: str) -> None:
    """What stands first on a page, with the button for light and dark."""
    import gradio

    with gradio.Row():
        gradio.Markdown(f"# {title}")
        turn = gradio.Button("Light or dark", size="sm", scale=0, min_width=140, elem_id="theme")
    turn.click(None, js=_TURN, api_visibility="private")
    gradio.Markdown(text)
