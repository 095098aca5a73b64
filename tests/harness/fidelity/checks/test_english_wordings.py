"""English wordings that say the same, of kinds that took an honest answer for a lie, and lies in the same wordings."""

# ruff: noqa: E501 (sentences stay whole)

import pytest
from fidelity_judging import judged

from harness.fidelity.case import Label
from harness.fidelity.reading.abbreviations import written_out
from harness.fidelity.reading.wordings_en import plain_english

SAME = [
    (
        "The headset cannot be connected to two phones at the same time.",
        "The headset connects to just one phone at a time.",
    ),
    (
        "The request is rejected with a 409 unless you send the ETag.",
        "If you don't send the ETag, the request comes back with a 409.",
    ),
    (
        "All teams except Logistics may work from home on Wednesdays.",
        "On Wednesdays, working from home is allowed for every team apart from Logistics.",
    ),
    ("The Human Resources department will contact you.", "The HR department will contact you."),
    ("Take 500 mg twice a day with food.", "Take half a gram two times a day with food."),
    ("The night tariff is 0.18 euros per kilowatt-hour.", "The night tariff is 18 cents per kWh."),
    (
        "An alert is sent when memory use stays above 75 %.",
        "If memory use remains over three quarters, an alert goes out.",
    ),
    (
        "Your parcel will be delivered tomorrow between 9 and 11 a.m.",
        "Your parcel will be delivered tomorrow morning between 9 and 11.",
    ),
    (
        "The grant pays half on signing and half after the final report.",
        "50% of the grant is paid at signature, the other 50% once the final report is in.",
    ),
    (
        "Bulky waste is not collected automatically; residents have to book a pick-up, and the first two are free of charge.",
        "Bulky waste is picked up only if you book it. You pay nothing for the first two.",
    ),
    (
        "Shipping costs are not refunded, even if you return the entire order.",
        "We don't refund shipping costs, not even when the whole order is returned.",
    ),
    (
        "The delay was our fault, so you will not be charged for the express delivery.",
        "The delay is on us, so the express delivery won't cost you anything.",
    ),
    ("The reading room on the second floor is closed this week.", "This week the second-floor reading room is closed."),
    ("Turn the router off and check whether the light is out.", "Switch off the router and see if the light is out."),
    ("Your order has not been shipped yet.", "Your order is still waiting to be shipped."),
    ("Do not use the lift in a fire.", "Stay out of the lift if there is a fire."),
    ("We advise against swimming here.", "Swimming is not recommended here."),
    ("Neither candidate got a majority.", "Both candidates fell short of a majority."),
    (
        "The tablets should be taken after meals, not on an empty stomach.",
        "Take the tablets once you have eaten; don't take them on an empty stomach.",
    ),
    ("The library lends up to ten books at a time.", "You may borrow as many as ten books at once."),
    (
        "Applications received after 15 March will not be considered.",
        "Only applications that reach us by 15 March will be considered.",
    ),
    (
        "Employees may carry over up to five days of holiday to the next year.",
        "Up to 5 days of leave can be taken into the following year by employees.",
    ),
    ("The gym is open 24 hours a day.", "The gym never closes."),
    ("The new model is lighter than the old one.", "The old model weighs more than the new one."),
    ("You don't need a visa for stays of up to 30 days.", "Stays of no more than 30 days are visa-free."),
    ("All but two of the twelve seats are taken.", "Ten of the twelve seats are taken."),
    ("The water will be shut off from 8 to 11.", "Between 8 and 11 there will be no water."),
    (
        "Your booking isn't confirmed until we receive the deposit.",
        "Your booking is confirmed once we have received the deposit.",
    ),
    ("The camera has neither a flash nor a viewfinder.", "The camera lacks both a flash and a viewfinder."),
    ("Don't forget to lock the door.", "Remember to lock the door."),
]
TURNED = [
    ("You must show a passport to board the ferry.", "You can board the ferry without a passport."),
    (
        "Staff may park in the yard, except on delivery days.",
        "Staff are allowed to park in the yard on any day, delivery days included.",
    ),
    ("Do not use the lift in a fire.", "Use the lift if there is a fire."),
    ("The museum shop is open every day except Monday.", "Monday is the only day on which the museum shop opens."),
    (
        "The trial ends automatically after 14 days unless you subscribe.",
        "If you subscribe, the trial will automatically end after two weeks.",
    ),
    ("You will not be charged until the room is ready.", "You'll be charged before the room is ready."),
    (
        "Children under 12 travel free when accompanied by an adult.",
        "Children under 12 travel free, with or without an adult.",
    ),
    ("The invoice is due by 30 June.", "Please pay the invoice no earlier than June 30."),
    (
        "The headset cannot be connected to two phones at the same time.",
        "The headset connects to two phones at a time.",
    ),
    (
        "The request is rejected with a 409 unless you send the ETag.",
        "If you send the ETag, the request comes back with a 409.",
    ),
    ("Pupils are not allowed on the grounds until 7:45.", "Pupils may be on the grounds only until 7:45."),
    ("Your parcel comes tomorrow between 9 and 11 a.m.", "Your parcel comes tomorrow evening between 9 and 11."),
    ("The night tariff is 0.18 euros per kWh.", "The night tariff is 18 euros per kWh."),
    ("An alert is sent when memory use stays above 75 %.", "An alert is sent when memory use stays above a quarter."),
    ("The manufacturer advises against wearing it in the sauna.", "The manufacturer advises wearing it in the sauna."),
    ("You will not be charged for the express delivery.", "The express delivery will cost you extra."),
    ("Only project owners can rotate the key.", "The key can be rotated by anyone but project owners."),
    (
        "The score sheet can be submitted by anyone but a team captain.",
        "Only team captains can submit the score sheet.",
    ),
    (
        "Shipping costs are not refunded, even if you return the entire order.",
        "Shipping costs are refunded even if you return the entire order.",
    ),
    ("The home side lost 2-3 after leading 2-0 at half time.", "The home side won 3-2 after leading 2-0 at half time."),
    ("Northfield lost to Easton 3-1 on Saturday.", "Northfield beat Easton 3-1 on Saturday."),
    ("We have not found the cause yet.", "We have found the cause."),
    ("We did not fail over to the replica.", "We held off no longer and failed over to the replica."),
    ("Please leave the light switches alone.", "Please use the light switches."),
    (
        "Bulky waste is not collected automatically; you have to book a pick-up.",
        "Bulky waste is collected automatically; you don't have to book a pick-up.",
    ),
    (
        "Your application is with the hiring manager, who has not yet made a decision.",
        "Your application is with the hiring manager, who has made a decision.",
    ),
    (
        "Refunds are paid unless the ticket was already scanned.",
        "Refunds are paid once the ticket was already scanned.",
    ),
    (
        "Your daughter needs a signed consent form to join the trip.",
        "Your daughter can join the trip without a signed consent form.",
    ),
    ("The excess is £250 per claim.", "The excess is £250 for all claims together."),
    ("The Human Resources department will call you.", "The IT department will call you."),
    (
        "A doctor's note is needed from the fourth day; none is needed for the first three days.",
        "You need a doctor's note for the first three days; from the fourth day you can do without one.",
    ),
    ("Both parents have to sign the application.", "One parent's signature on the application is enough."),
    ("Turn the router off and wait 30 seconds.", "Turn the router on and wait 30 seconds."),
    ("Keep your feet off the seats.", "Put your feet on the seats."),
    ("You can pay by card or in cash.", "You can pay by card but not in cash."),
    (
        "Applications received after 15 March will not be considered.",
        "Only applications that reach us after 15 March will be considered.",
    ),
    (
        "The last bus leaves at 23:10; after that, only taxis are available.",
        "After the last bus at 11:10 a.m., taxis are the only option.",
    ),
    ("You have to be at least 18 to rent a car here.", "Nobody over 18 can rent a car here."),
    ("The new model is lighter than the old one.", "The new model weighs more than the old one."),
    (
        "Put the chicken in the oven after the potatoes have cooked for 20 minutes.",
        "Put the chicken in the oven before the potatoes have cooked for 20 minutes.",
    ),
    ("All but two of the twelve seats are taken.", "Two of the twelve seats are taken."),
    ("The discount applies to online orders only.", "The discount applies to all orders, online ones included."),
    ("Mr. Brown teaches maths and Ms. Green physics.", "Maths is taught by Ms. Green, physics by Mr. Brown."),
    (
        "The study found no link between coffee and heart disease.",
        "The study found a link between coffee and heart disease.",
    ),
    ("Your appeal was successful.", "Your appeal was dismissed."),
    ("No experience is required.", "You need experience."),
    ("Two of the three servers are back online.", "Two of the three servers are still down."),
    ("Sales fell by 10% compared with last year.", "Compared to last year, sales were up ten percent."),
    ("Ann reports to Ben.", "Ben reports to Ann."),
    ("The data is stored in Ireland and deleted after 90 days.", "The data is stored in Ireland and never deleted."),
    ("The committee has not reached a decision yet.", "The committee has reached a decision."),
    ("Tickets are non-refundable.", "You can get your money back for tickets."),
    ("Do not take more than four tablets a day.", "The minimum is four tablets per day."),
    ("The results are sent to your doctor, not to you.", "The results are sent to you, not to your doctor."),
    ("Water the plant only when the soil is dry.", "Don't water the plant when the soil is dry."),
    ("The fine is doubled if you don't pay within 30 days.", "If you pay within 30 days, the fine is doubled."),
    (
        "You don't have to print the ticket; showing it on your phone is enough.",
        "You have to print the ticket; showing it on your phone is not enough.",
    ),
    ("We can't process your claim without the police report.", "We can process your claim without the police report."),
    ("The toll is 4 euros for cars and 2 euros for motorbikes.", "Motorbikes pay a toll of €4, cars €2."),
    ("Kids under 6 must be accompanied by an adult.", "Kids under 6 needn't be accompanied by an adult."),
    ("The engine won't start if the door is open.", "The engine starts only when the door is open."),
    ("The museum is not open on Mondays, but the garden is.", "On Mondays only the museum is open; the garden isn't."),
    ("The soup contains celery but no nuts.", "There are nuts in the soup, but it's free of celery."),
    ("More than half of the members voted against the plan.", "A majority of the members accepted the plan."),
    ("The camera has neither a flash nor a viewfinder.", "The camera has both a flash and a viewfinder."),
    ("Don't forget to lock the door.", "You can forget about locking the door."),
    (
        "Save your work before you update, or it will be lost.",
        "You need not save your work before updating; it won't be lost.",
    ),
    ("The report was written by Ms Chen and checked by Mr Ali.", "Mr Ali wrote the report, and Ms Chen checked it."),
    (
        "Rooms must be vacated by 11 a.m. on the day of departure.",
        "On the day you leave, you can stay in your room after 11 in the morning.",
    ),
    (
        "Your booking isn't confirmed until we receive the deposit.",
        "Your booking is confirmed before we receive the deposit.",
    ),
]
PLAIN = [
    ("Should you miss it, call us.", "if you miss it, call us."),
    ("Should you miss it?", "Should you miss it?"),
    ("Lost your card? Block it in the app.", "If you lost your card, block it in the app."),
    ("Any questions? Call us.", "Any questions? Call us."),
    ("Turn the router off.", "Turn off the router."),
    ("Take the second road on the left.", "Take the second road on the left."),
    ("Keep your feet off the seats.", "keep off your feet the seats."),
    ("a second-floor room with check-in", "a second floor room with check-in"),
    ("All but two of the twelve seats", "10 of the twelve seats"),
    ("£5 for each guest", "£5 per guest"),
    ("a single room for a single person", "a single room for a single person"),
    ("Do not forget to lock it.", "remember to lock it."),
]
WRITTEN = [
    ("The HR team", "The Human Resources team", "The Human Resources team"),
    ("The Value Added Tax is due", "VAT is due", "The VAT is due"),
    ("The IT team", "The Internal Transfers team", "The IT team"),
    ("Flight KR204", "Flight KR 204", "Flight KR 204"),
    ("Flight KR205", "Flight KR 204", "Flight KR205"),
]


@pytest.mark.parametrize(("reference", "candidate"), SAME)
def test_an_english_wording_of_the_same_is_faithful(reference: str, candidate: str) -> None:
    found = judged(reference, candidate)
    assert found.label is Label.FAITHFUL, found.reasons


@pytest.mark.parametrize(("reference", "candidate"), TURNED)
def test_a_lie_in_such_a_wording_is_misleading(reference: str, candidate: str) -> None:
    assert judged(reference, candidate).label is Label.MISLEADING


@pytest.mark.parametrize(("text", "plain"), PLAIN)
def test_a_wording_is_written_in_the_plain_way(text: str, plain: str) -> None:
    assert plain_english(text) == plain


@pytest.mark.parametrize(("candidate", "reference", "written"), WRITTEN)
def test_an_abbreviation_and_a_code_are_written_as_the_reference_has_them(
    candidate: str, reference: str, written: str
) -> None:
    assert written_out(candidate, reference) == written
